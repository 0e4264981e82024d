import { describe, expect, it } from 'vitest'
import { type ApiObject } from '../../meta/object/api-object.js'
import { type Value, WholeFloat } from '../../meta/values/value.js'
import { columnsOf } from './columns.js'

const NOW = Date.parse('2024-01-01T01:00:00Z')

const widget = (v?: Value): ApiObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a', creationTimestamp: '2024-01-01T00:00:00Z' },
  ...(v !== undefined && { v }),
})

const cell = (type: string, v?: Value): Value =>
  columnsOf([{ name: 'V', type, jsonPath: '.v' }]).cells(widget(v), NOW)[1]!

describe('columns', () => {
  it('are name and age where there are none', () => {
    const { columns, cells } = columnsOf([])
    expect(columns.map(({ name }) => name)).toEqual(['Name', 'Age'])
    expect(cells(widget(), NOW)).toEqual(['a', '60m'])
  })

  it('have a description even if the definition has none', () => {
    const specs = [
      { name: 'A', type: 'string', jsonPath: '.a' },
      { name: 'B', type: 'string', jsonPath: '.b', description: 'of b' },
    ]
    expect(
      columnsOf(specs)
        .columns.slice(1)
        .map(({ description }) => description),
    ).toEqual(['Custom resource definition column (in JSONPath format): .a', 'of b'])
  })

  it('end with the first path that cannot be read', () => {
    const specs = ['.a', '.b[', '.c'].map(jsonPath => ({ name: jsonPath, type: 'string', jsonPath }))
    expect(columnsOf(specs).columns.map(({ name }) => name)).toEqual(['Name', '.a'])
  })
})

describe('a cell', () => {
  it.each<[string, Value | undefined, Value]>([
    ['string', 'x', 'x'],
    ['string', undefined, null],
    ['string', null, '<no value>'],
    ['string', 1.5, '1.5'],
    ['string', new WholeFloat(1e21), '1e+21'],
    ['string', true, 'true'],
    ['string', { b: 1, a: [2] }, '{"a":[2],"b":1}'],
    ['integer', 1.9, 1],
    ['integer', 'x', null],
    ['number', 2, 2],
    ['boolean', 'true', null],
    ['date', '2024-01-01T00:59:00Z', '60s'],
    ['date', 'never', '<invalid>'],
    ['date', '', '<unknown>'],
  ])('of type %s over %j', (type, value, shown) => expect(cell(type, value)).toEqual(shown))
})
