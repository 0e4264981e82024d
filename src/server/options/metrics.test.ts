import { expect, test } from 'vitest'
import { metricsFlags } from './metrics.js'

const read = (...given: string[]) =>
  given.reduce((before, text) => metricsFlags['allow-metric-labels'].read(text, before), new Map() as never)

test.each([
  [["m,verb='GET,LIST'"], 'm,verb=GET,LIST'],
  [['"m,verb=GET,LIST","n,code=200"'], 'm,verb=GET,LIST n,code=200'],
  [['m,verb=GET', 'm,code=200'], 'm,verb=GET m,code=200'],
])('%j', (given, printed) => {
  expect(metricsFlags['allow-metric-labels'].print!(read(...given))).toBe(`[${printed}]`)
})

test('what is no metric with a label is refused', () => {
  expect(() => read('verb=GET')).toThrow('it must be a metric, a label and its values')
})
