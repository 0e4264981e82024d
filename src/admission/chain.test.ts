import { describe, expect, test } from 'vitest'
import { type ApiObject } from '../meta/object/api-object.js'
import type { ValueObject } from '../meta/values/value.js'
import type { Attributes } from './attributes.js'
import { attributesFor } from './attributes.suite.js'
import { type AdmissionPlugin, createAdmission } from './chain.js'

const object: ApiObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }
const WRITES = new Set(['CREATE', 'UPDATE'] as const)

/** A plugin that adds its name to the list at `seen`. */
const adding = (name: string, more: Partial<AdmissionPlugin> = {}): AdmissionPlugin => ({
  name,
  operations: WRITES,
  mutate: ({ object: current }) => ({ ...current!, seen: [...((current!['seen'] as string[]) ?? []), name] }),
  ...more,
})
const seen = (changed: ApiObject | undefined): unknown => changed?.['seen']

describe('mutating plugins', () => {
  test('run in order, each on the object of the one before', () => {
    const { mutate } = createAdmission([adding('a'), adding('b')])
    expect(seen(mutate(attributesFor('pods', { object })) as ApiObject)).toEqual(['a', 'b'])
  })

  test('give no promise unless a plugin does', async () => {
    const slow = adding('slow', { mutate: async attributes => adding('slow').mutate!(attributes) })
    expect(createAdmission([adding('a')]).mutate(attributesFor('pods', { object }))).not.toBeInstanceOf(Promise)
    const changed = createAdmission([adding('a'), slow, adding('b')]).mutate(attributesFor('pods', { object }))
    expect(changed).toBeInstanceOf(Promise)
    expect(seen(await changed)).toEqual(['a', 'slow', 'b'])
  })

  test('that change nothing leave the object undefined', async () => {
    const idle = adding('idle', { mutate: () => undefined })
    const slow = adding('slow', { mutate: async () => undefined })
    expect(createAdmission([idle]).mutate(attributesFor('pods', { object }))).toBeUndefined()
    expect(await createAdmission([idle, slow, idle]).mutate(attributesFor('pods', { object }))).toBeUndefined()
    expect(seen(await createAdmission([adding('a'), slow, idle]).mutate(attributesFor('pods', { object })))).toEqual([
      'a',
    ])
  })

  test.each([false, true])('run a second time, once, if one of them asks for it; with promises: %s', async isAsync => {
    const runs: boolean[] = []
    const asking = adding('asking', {
      mutate({ reinvocation }) {
        runs.push(reinvocation.isReinvoke)
        reinvocation.request()
        return isAsync ? Promise.resolve(undefined) : undefined
      },
    })
    const changed = await createAdmission([adding('a'), asking]).mutate(attributesFor('pods', { object }))
    expect(runs).toEqual([false, true])
    expect(seen(changed)).toEqual(['a', 'a'])
  })
})

test('managedFields that a plugin has broken are put back, with a warning', async () => {
  const managedFields = [{ manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }]
  const before = { ...object, metadata: { name: 'p', managedFields } }
  const breaking = (entries: ValueObject[]): AdmissionPlugin =>
    adding('breaking', { mutate: () => ({ ...before, metadata: { name: 'p', managedFields: entries } }) })
  const mutate = async (entries: ValueObject[]) => {
    const attributes = attributesFor('pods', { object: before })
    const changed = await createAdmission([breaking(entries)]).mutate(attributes)
    return [changed?.metadata['managedFields'], attributes.request.warnings.texts]
  }
  expect(await mutate([{ ...managedFields[0]!, manager: 'other' }])).toMatchObject([[{ manager: 'other' }], []])
  expect(await mutate([{ ...managedFields[0]!, operation: 'Nonsense' }])).toEqual([
    managedFields,
    [
      '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: operation must be `Apply` or `Update`',
    ],
  ])
})

describe('plugins are called for their', () => {
  const called: string[] = []
  const noting = (name: string, more: Partial<AdmissionPlugin>): AdmissionPlugin => ({
    name,
    operations: WRITES,
    validate: () => void called.push(name),
    ...more,
  })
  const { validate } = createAdmission([
    noting('all', {}),
    noting('pods', { resources: ['pods'] }),
    noting('resize', { resources: ['pods/resize'] }),
    noting('any', { resources: ['pods/*'] }),
    noting('grouped', { resources: ['deployments.apps'] }),
    noting('delete', { operations: new Set(['DELETE']) }),
  ])
  const calls = async (attributes: Attributes): Promise<string[]> => {
    called.length = 0
    await validate(attributes)
    return [...called]
  }

  test.each([
    ['pods', ['all', 'pods', 'any']],
    ['pods/resize', ['all', 'resize', 'any']],
    ['pods/status', ['all', 'any']],
    ['deployments.apps', ['all', 'grouped']],
    ['deployments.apps/scale', ['all']],
    ['deployments', ['all']],
    ['widgets.example.com', ['all']],
  ])('resources: %s', async (resource, names) => {
    expect(await calls(attributesFor(resource, { object }))).toEqual(names)
  })

  test('operations', async () => {
    expect(await calls(attributesFor('pods', { operation: 'DELETE', oldObject: object }))).toEqual(['delete'])
  })
})

test('validating plugins stop at the first that refuses', async () => {
  const refusing = (name: string): AdmissionPlugin => ({
    name,
    operations: WRITES,
    async validate() {
      throw new Error(name)
    },
  })
  const { validate } = createAdmission([adding('a'), refusing('b'), refusing('c')])
  await expect(validate(attributesFor('pods', { object }))).rejects.toThrow('b')
})
