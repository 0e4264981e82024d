import { describe, expect, test } from 'vitest'
import { unclassified } from '../meta/errors/status.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { type ManagedFieldsEntry, metaOf } from '../meta/object/object-meta.js'
import type { Value } from '../meta/values/value.js'
import { customMergeType } from './custom-merge-type.suite.js'
import { applyConfiguration, type ManagedType, trackUpdate } from './field-manager.js'
import { EMPTY } from './paths/field-set.js'

// The older version has `hostPort` where the newer one has `host` and `port`.
const text = { type: 'string' }
const schemas: Record<string, ReturnType<typeof customMergeType>> = {
  'example.com/v1beta1': customMergeType({ type: 'object', properties: { hostPort: text, x: text } }),
  'example.com/v1': customMergeType({ type: 'object', properties: { host: text, port: text, x: text } }),
}

async function convert(object: ApiObject, apiVersion: string): Promise<ApiObject> {
  if (apiVersion === 'example.com/v1') {
    const { hostPort, ...rest } = object
    if (typeof hostPort !== 'string') return { ...rest, apiVersion }
    const [host = '', port = ''] = hostPort.split(':')
    return { ...rest, apiVersion, host, port }
  }
  const { host, port, ...rest } = object
  if (host === undefined && port === undefined) return { ...rest, apiVersion }
  return { ...rest, apiVersion, hostPort: `${host as string}:${port as string}` }
}

const typeAt = (apiVersion: string): ManagedType => ({
  apiVersion,
  kind: 'Widget',
  subresource: '',
  typeOf: version => schemas[version],
  convert,
  resets: () => EMPTY,
  empty: () => ({ apiVersion, kind: 'Widget' }),
})

const widget = (version: string, fields: Record<string, Value>): ApiObject => ({
  apiVersion: `example.com/${version}`,
  kind: 'Widget',
  metadata: { name: 'a' },
  ...fields,
})

async function apply(
  live: ApiObject | undefined,
  version: string,
  manager: string,
  fields: Record<string, Value>,
  force = false,
) {
  const seen = live && (await convert(live, `example.com/${version}`))
  const request = { manager, force, now: 0, decodeMerged: (object: ApiObject): ApiObject => object }
  return (await applyConfiguration(typeAt(`example.com/${version}`), seen, widget(version, fields), request)).object
}

const owners = (object: ApiObject): Value =>
  (metaOf(object).managedFields ?? []).map(
    ({ manager, apiVersion, fieldsV1 }: ManagedFieldsEntry) => [manager, apiVersion, fieldsV1] as Value,
  )

describe('managers that use several versions', () => {
  test('meet in their own version', async () => {
    const one = await apply(undefined, 'v1beta1', 'one', { hostPort: 'h:1' })
    const both = await apply(one, 'v1', 'two', { x: '1' })
    expect(owners(both)).toEqual([
      ['one', 'example.com/v1beta1', { 'f:hostPort': {} }],
      ['two', 'example.com/v1', { 'f:x': {} }],
    ])
    await expect(apply(both, 'v1', 'two', { x: '1', port: '9' })).rejects.toThrow(
      'Apply failed with 1 conflict: conflict with "one": .hostPort',
    )
    const forced = await apply(both, 'v1', 'two', { x: '1', port: '9' }, true)
    expect(owners(forced)).toEqual([['two', 'example.com/v1', { 'f:port': {}, 'f:x': {} }]])
    expect(forced).toMatchObject({ host: 'h', port: '9' })
  })

  test('give up in the new version what they applied in the old one', async () => {
    const old = await apply(undefined, 'v1beta1', 'one', { hostPort: 'h:1', x: '1' })
    const moved = await apply(old, 'v1', 'one', { host: 'h', port: '1' })
    expect(moved).toMatchObject({ host: 'h', port: '1' })
    expect(moved).not.toHaveProperty('x')
    expect(owners(moved)).toEqual([['one', 'example.com/v1', { 'f:host': {}, 'f:port': {} }]])
  })

  test('are all forgotten by a plain write while conversion fails; an apply is refused', async () => {
    const stored = await convert(await apply(undefined, 'v1beta1', 'one', { hostPort: 'h:1' }), 'example.com/v1')
    const type: ManagedType = {
      ...typeAt('example.com/v1'),
      convert: async () => {
        throw unclassified('the webhook is gone')
      },
    }
    const written = await trackUpdate(type, stored, { ...stored, x: '1' }, 'two', 0)
    expect(owners(written)).toEqual([])
    const request = { manager: 'two', force: true, now: 0, decodeMerged: (object: ApiObject): ApiObject => object }
    await expect(applyConfiguration(type, stored, widget('v1', { x: '1' }), request)).rejects.toThrow('gone')
  })

  test('are forgotten when their version is gone, and all are when it cannot be one', async () => {
    const live = await apply(undefined, 'v1', 'one', { x: '1' })
    const entry = metaOf(live).managedFields![0]!
    const write = (apiVersion: string) =>
      trackUpdate(
        typeAt('example.com/v1'),
        live,
        {
          ...live,
          metadata: { name: 'a', managedFields: [{ ...entry }, { ...entry, manager: 'gone', apiVersion }] },
        },
        'u',
        0,
      )
    expect(owners(await write('gone.example.com/v1'))).toEqual([['one', 'example.com/v1', { 'f:x': {} }]])
    expect(owners(await write('a/b/c'))).toEqual([])
  })
})
