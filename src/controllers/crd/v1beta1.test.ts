import { describe, expect, it } from 'vitest'
import { convertDefinition, V1, V1BETA1 } from '../../crd/definition/definition-v1beta1.js'
import type { KindVersion } from '../../kinds/kind.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { DEFINITIONS } from './crd-process.suite.js'

const [NEWER, OLDER] = DEFINITIONS.versions as [KindVersion, KindVersion]

/** What is given goes into its spec. */
const written = (spec: ValueObject): ApiObject => ({
  apiVersion: V1BETA1,
  kind: 'CustomResourceDefinition',
  metadata: { name: 'crontabs.example.com' },
  spec: { group: 'example.com', names: { plural: 'crontabs', kind: 'CronTab' }, ...spec },
})

describe('an old definition', () => {
  it('is off unless it is asked for, and comes after the newer form', () => {
    expect(DEFINITIONS.versions.map(({ name, served }) => [name, served])).toEqual([
      ['v1', true],
      ['v1beta1', false],
    ])
    expect(DEFINITIONS.storedAs).toBe(V1)
  })

  it.each<ValueObject>([
    { versions: [null] },
    { names: null, version: 'v1' },
    { version: 'v1', conversion: null, validation: null, subresources: null, additionalPrinterColumns: [null] },
    { versions: null },
    {},
  ])('is refused with the missing fields: %j', spec => {
    const { object } = OLDER.strategy.decode(written(spec), [])
    const definition = OLDER.strategy.prepareForCreate(OLDER.strategy.applyDefaults(object), 0)
    expect(() => OLDER.strategy.validate(definition, [])).not.toThrow()
    expect(() => convertDefinition(convertDefinition(definition, V1), V1BETA1)).not.toThrow()
  })

  it('is not read as the newer form, nor the newer one as this', () => {
    const mismatch = (data: string, expected: string) =>
      `the API version in the data (${data}) does not match the expected API version (${expected})`
    expect(NEWER.strategy.decode(written({}), []).refused?.message).toBe(mismatch(V1BETA1, V1))
    expect(OLDER.strategy.decode({ ...written({}), apiVersion: V1 }, []).refused?.message).toBe(mismatch(V1, V1BETA1))
  })
})
