// What it costs to validate an object against a large schema, beside what it costs to parse it.
import { compileSchema } from '../dist/schema/compiled-schema.js'
import { largeDefinition } from './large-definition.mjs'
import { report, sideBySide } from './side-by-side.mjs'

const KIB = 1024

export async function validationFigures({ rounds }) {
  const written = largeDefinition(0).spec.versions[0].schema.openAPIV3Schema
  const schema = compileSchema(written)
  // Lists are what makes objects large: as many items as it takes.
  let items = 1
  while (JSON.stringify(valueOf(written, items)).length < 100 * KIB) items++
  const object = valueOf(written, items)
  const text = JSON.stringify(object)
  const faults = schema.validate(object)
  if (faults.length > 0) throw new Error(`the object should be valid, but ${faults[0].field} is not`)
  const times = 50
  const repeat = work => () => {
    for (let i = 0; i < times; i++) work()
    return times
  }
  const rates = await sideBySide(
    { validate: repeat(() => schema.validate(object)), parse: repeat(() => JSON.parse(text)) },
    { rounds, warmups: 3 },
  )
  const us = rate => `${(1e6 / rate).toFixed(0)} µs`
  const ratio = rates.parse / rates.validate
  report(
    `validating ${(text.length / KIB).toFixed(0)} KiB by a schema of ${nodesOf(written)} nodes`,
    us(rates.validate),
    `JSON.parse of it ${us(rates.parse)}`,
    `${ratio.toFixed(2)} ×`,
    '<= 2 ×',
    ratio <= 2,
  )
}

/** A value that has everything that its schema knows, lists with so many items. */
function valueOf(schema, items, i = 0) {
  if (schema.enum) return schema.enum[0]
  switch (schema.type) {
    case 'object':
      return schema.additionalProperties
        ? { key: valueOf(schema.additionalProperties, items) }
        : Object.fromEntries(
            Object.entries(schema.properties ?? {}).map(([name, each]) => [name, valueOf(each, items, i)]),
          )
    case 'array':
      // Those within another list stay small.
      return Array.from({ length: i === 0 ? items : 1 }, (_, at) => valueOf(schema.items, items, at + 1))
    case 'integer':
      return 80
    case 'boolean':
      return true
    default:
      return schema.format === 'date-time' ? '2024-05-01T12:00:00Z' : `name-${i}`
  }
}

const nodesOf = schema =>
  1 +
  [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties]
    .filter(each => typeof each === 'object')
    .reduce((sum, each) => sum + nodesOf(each), 0)
