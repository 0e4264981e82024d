import { expect, test } from 'vitest'
import { createRecentForms } from './recent-forms.js'

const stored = (text: string): Buffer => Buffer.from(`protobuf of ${text}`)
const json = (text: string): Buffer => Buffer.from(`"${text}"`)

test('the latest two forms of a key are known', () => {
  const forms = createRecentForms()
  for (const text of ['a', 'b', 'c']) forms.add('/key', stored(text), json(text))
  expect(forms.find('/key', stored('a'))).toBeUndefined()
  expect(forms.find('/key', stored('b'))).toEqual(json('b'))
  expect(forms.find('/key', stored('c'))).toEqual(json('c'))
  expect(forms.find('/other', stored('c'))).toBeUndefined()
})

test('a form that is added again stays known with the one before it', () => {
  const forms = createRecentForms()
  for (const text of ['a', 'b', 'b', 'b']) forms.add('/key', stored(text), json(text))
  expect(forms.find('/key', stored('a'))).toEqual(json('a'))
})

test('keys that were written longest ago are forgotten first', () => {
  const forms = createRecentForms(100)
  for (let n = 0; n < 50; n++) forms.add(`/key-${n}`, stored('x'), json('x'))
  expect(forms.find('/key-0', stored('x'))).toBeUndefined()
  expect(forms.find('/key-49', stored('x'))).toEqual(json('x'))
})
