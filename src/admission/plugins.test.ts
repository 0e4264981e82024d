import { expect, test } from 'vitest'
import { ADMISSION_PLUGINS } from './plugins.js'

test('the table has every plugin once, with a factory or the reason why there is none', () => {
  const names = ADMISSION_PLUGINS.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { create, missing } of ADMISSION_PLUGINS) expect(Boolean(create)).toBe(missing === undefined)
})

test('validating webhooks and quota come last, after everything that may change the object', () => {
  const names = ADMISSION_PLUGINS.map(({ name }) => name)
  expect(names.slice(-6)).toEqual([
    'MutatingAdmissionPolicy',
    'MutatingAdmissionWebhook',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionWebhook',
    'ResourceQuota',
    'AlwaysDeny',
  ])
})
