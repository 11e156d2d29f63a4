/** What the English words of the examples mean, for readers of Chinese. */
const GLOSSES: Readonly<Record<string, string>> = {
  ...{ cat: '猫', dog: '狗', horse: '马', cow: '牛', lion: '狮子', tiger: '老虎', rabbit: '兔子' },
  ...{
    cats: '猫（复数）',
    monkey: '猴子',
    dogs: '狗（复数）',
    mouse: '鼠',
    puppy: '小狗',
    rat: '大鼠',
  },
  ...{ kitten: '小猫', bank: '银行；河岸', river: '河', money: '钱', hot: '热', cold: '冷' },
  ...{
    paris: '巴黎',
    london: '伦敦',
    berlin: '柏林',
    tokyo: '东京',
    rome: '罗马',
    moscow: '莫斯科',
  },
  ...{ madrid: '马德里', beijing: '北京', athens: '雅典', seoul: '首尔', milan: '米兰' },
  ...{ france: '法国', germany: '德国', italy: '意大利', spain: '西班牙', russia: '俄罗斯' },
  ...{ japan: '日本', china: '中国', greece: '希腊', japanese: '日本的' },
  ...{ bread: '面包', cheese: '奶酪', milk: '牛奶', rice: '米', soup: '汤', apple: '苹果' },
  ...{ lawyer: '律师', engineer: '工程师', teacher: '教师' },
  ...{ man: '男人', woman: '女人', king: '国王', queen: '女王', brother: '兄弟', sister: '姐妹' },
  ...{
    uncle: '叔舅',
    aunt: '姑姨',
    nephew: '侄子',
    niece: '侄女',
    actor: '男演员',
    actress: '女演员',
  },
  ...{
    father: '父亲',
    mother: '母亲',
    son: '儿子',
    daughter: '女儿',
    prince: '王子',
    princess: '公主',
  },
  ...{ strong: '强', stronger: '更强', weak: '弱', weaker: '更弱', fast: '快', faster: '更快' },
  ...{ slow: '慢', slower: '更慢', short: '短', shorter: '更短', long: '长', longer: '更长' },
  ...{ small: '小', smaller: '更小', large: '大', larger: '更大', colder: '更冷', big: '大' },
  ...{ walk: '走', walking: '走（现在分词）', swim: '游泳', swimming: '游泳（现在分词）' },
  ...{ swam: '游泳（过去式）', see: '看见', saw: '看见（过去式）', eat: '吃', ate: '吃（过去式）' },
  ...{ eaten: '吃（过去分词）', einstein: '爱因斯坦', physics: '物理', painting: '绘画' },
  ...{ paintings: '绘画（复数）', picasso: '毕加索', windows: '窗户；视窗系统', window: '窗户' },
  ...{ microsoft: '微软', mac: '苹果电脑', glass: '玻璃', even: '甚至', great: '大；极好' },
  ...{ doctor: '医生', nurse: '护士', doctors: '医生（复数）', starring: '主演', web: '网' },
};

/** The word, in Chinese with its meaning where that is known. */
export const glossed = (word: string, language: string, between = ' '): string => {
  const gloss = language === 'zh' ? GLOSSES[word] : undefined;
  return gloss === undefined ? word : `${word}${between}${gloss}`;
};
