// @build any
// Which words the head that looks for animals knows, in Node.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';

const { isAnimal, asksForAnimal, ENGLISH_ANIMALS } = await modules('domain/animals');

test('animals: a word of the list, in the plural, at the start of a sentence, and nothing else', () => {
  const known = 'cat Cats foxes elephants wolves mice FISH OXEN 宠物 宠物猫 大象 小猫 长颈鹿 狐狸';
  for (const word of known.split(' ')) assert.ok(isAnimal(word), word);
  const others = 'the mat tree because . it was 垫子 因为 它 。 catss cates2 es dogses 猫的';
  for (const word of ['', ...others.split(' ')]) assert.ok(!isAnimal(word), word);
  for (const word of ENGLISH_ANIMALS) assert.ok(isAnimal(word), word);
  assert.ok(ENGLISH_ANIMALS.length > 90);
});

test('animals: “it” asks for one, and an animal does not', () => {
  for (const word of ['it', 'It', 'tired', '它', '累']) assert.ok(asksForAnimal(word), word);
  for (const word of ['cat', 'the', '猫']) assert.ok(!asksForAnimal(word), word);
});
