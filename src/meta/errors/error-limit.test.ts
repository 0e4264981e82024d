import { expect, test } from 'vitest'
import { limitErrors, MAX_FOUND, MAX_PRINTED } from './error-limit.js'
import { asStruct, fieldInvalid, fieldRequired, printFieldErrors } from './field-errors.js'
import { invalid } from './status.js'

const errorsOfMany = (count: number, detail = '') =>
  limitErrors(() => Array.from({ length: count }, (_, i) => fieldRequired(`spec.ports[${i}].name`, detail)))

test('a validation ends after too many errors, and those that were found are reported', () => {
  let made = 0
  const errors = limitErrors(() => {
    const all = []
    for (; made < 1_000_000; made++) all.push(fieldRequired(`spec.ports[${made}].name`))
    return all
  })
  expect(made).toBe(MAX_FOUND)
  expect(errors[0]).toMatchObject({ field: 'spec.ports[0].name' })
  expect(errors.length).toBeGreaterThanOrEqual(MAX_FOUND)
})

test('errors outside a validation are not counted', () => {
  expect(Array.from({ length: MAX_FOUND + 10 }, (_, i) => fieldRequired(String(i)))).toHaveLength(MAX_FOUND + 10)
})

test('a Status is not much longer than the limit, and says how many errors it does not show', () => {
  const { status } = invalid({ group: '', kind: 'Service' }, 'a', errorsOfMany(MAX_FOUND, 'x'.repeat(500)))
  expect(JSON.stringify(status).length).toBeLessThan(4 * MAX_PRINTED)
  const { causes = [] } = status.details!
  expect(causes.length).toBeLessThan(MAX_FOUND)
  expect(causes.at(-1)?.message).toBe(`and ${MAX_FOUND - causes.length + 1} more errors, which are not shown`)
  expect(status.message).toMatch(/, and \d+ more errors, which are not shown\]$/)
})

test('a few errors are all shown, and the first one is complete however long it is', () => {
  const long = 'x'.repeat(2 * MAX_PRINTED)
  expect(printFieldErrors([fieldInvalid('a', long, 'is bad')])).toBe(`a: Invalid value: "${long}": is bad`)
  expect(printFieldErrors([fieldRequired('a'), fieldRequired('b')])).toBe('[a: Required value, b: Required value]')
})

test('a struct is printed only if it is shown', () => {
  const value = {
    get a(): string {
      throw new Error('printed')
    },
  }
  expect(() => fieldInvalid('a', asStruct(value), 'is bad')).not.toThrow()
})
