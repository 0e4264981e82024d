import { expect, test } from 'vitest'
import { metricsFlags } from './metrics.js'

const flag = metricsFlags['allow-metric-labels']
const read = (...given: string[]) => given.reduce((before, text) => flag.read(text, before), flag.initial)

test.each([
  [["m,verb='GET,LIST'"], 'm,verb=GET,LIST'],
  [['"m,verb=GET,LIST","n,code=200"'], 'm,verb=GET,LIST n,code=200'],
  [['m,verb=GET', 'm,code=200'], 'm,verb=GET m,code=200'],
])('%j', (given, printed) => {
  expect(flag.print!(read(...given))).toBe(`[${printed}]`)
})

test('what is no metric with a label is refused', () => {
  expect(() => read('verb=GET')).toThrow('it must be a metric, a label and its values')
})
