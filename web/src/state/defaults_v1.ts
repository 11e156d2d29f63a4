import type { Language } from '../i18n/i18n';

/**
 * What a link of version 1 means where it says nothing: every key as a link would say it; a key that is missing here stands for
 * nothing, which the page decides. Frozen with release 0.1: links, lessons and embedded pages out there rest on it. Whoever
 * wants another first state changes the field, and leaves this as it is: then links say it.
 */
export const DEFAULTS_V1 = [
  'tok=word&src=constructed&pe=sinusoidal&mask=causal&tau=1&seed=7',
  'n=0.1,0.2,0.3,0.4,0.5,0.6;0.7,0.8,0.9,1,1.1,1.2;1.3,1.4,1.5,1.6,1.7,1.8&controls=1',
  'h=0&show=weights&look=map&sort=number&rq=0&rm=0&rmax=1',
  'curves=1&ts=random&gc=2&d=64&div=0&draw=1&da=0',
  `mk=causal&ms=3&mp=${'f'.repeat(64)}&mo=0&ma=0`,
  'k=5&pp=10&pi=4&pl=interleaved&ps=sinusoidal&pm=12&pn=5&pa=0',
  'bn=pre&by=layer&bt=sum1&bx=&bl=12&br=glorot&bs=1',
  'rcx=314159265358979&rcs=1&rch=1&lt=induction&ls=1&lv=25&ln=pre&lta=1&lk=0',
  'lmt=0.8&lmk=0&lmp=1&lms=1&lmslow=1&lmo=&lmsort=layer',
  'cs=1024-768-12-12-64-3072-12-50257-1-2-c',
].join('&');

/** The sentence of such a link, by its language. */
export const TEXT_V1: Readonly<Record<Language, string>> = {
  en: 'The cat sat on the mat because it was tired.',
  zh: '猫坐在垫子上，因为它累了。',
};
