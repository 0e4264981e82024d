// Two kinds for tests of code that serves any kind: one with the traits of built-in kinds, one with those of custom
// kinds.

import { badRequest } from '../meta/errors/status.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { onlyNameAndNamespace, onlyTheseFields } from '../meta/selectors/field-selectors.js'
import { isObject, type Value } from '../meta/values/value.js'
import { structuralType } from '../schema/structural.js'
import { builtinTypes } from '../types/type-table.js'
import type { Kind, KindVersion, Strategy, Traits } from './kind.js'

const TYPED: Traits = {
  listItemsHaveTypeMeta: false,
  sortedKeys: false,
  allowUnconditionalUpdate: true,
  allowCreateOnUpdate: false,
  lenientRouting: false,
  strategicMerge: false,
  returnsDeletedObject: false,
  hasTerminatingPhase: false,
}

const UNTYPED: Traits = {
  listItemsHaveTypeMeta: true,
  sortedKeys: true,
  allowUnconditionalUpdate: false,
  allowCreateOnUpdate: false,
  lenientRouting: true,
  strategicMerge: false,
  returnsDeletedObject: false,
  hasTerminatingPhase: false,
}

/** `notes` in the core group. */
export const noteKind = (): Kind => fakeKind('', 'Note', TYPED)

/** `widgets.example.com`; `version` overrides parts of v1. */
export const widgetKind = (version: Partial<KindVersion> = {}): Kind =>
  fakeKind('example.com', 'Widget', UNTYPED, version)

/** `widgets.example.com` in v1, the storage version, and v2, in which `color` is named `colour`. */
export function widgetKindOfTwoVersions(converted: number[] = []): Kind {
  const kind = widgetKind(selectableBy('color'))
  const v2 = { ...kind.versions[0]!, name: 'v2', ...selectableBy('colour') }
  const convertAll = async (objects: readonly ApiObject[], to: string): Promise<readonly ApiObject[]> => {
    converted.push(objects.length)
    return objects.map(object => {
      const { color, colour, ...rest } = object['spec'] as Record<string, string>
      const named = to.endsWith('/v2') ? { colour: color! } : { color: colour! }
      return { ...object, apiVersion: to, spec: { ...rest, ...named } }
    })
  }
  return {
    ...kind,
    versions: [...kind.versions, v2],
    convertAll,
    convert: async (object, to) => (await convertAll([object], to))[0]!,
  }
}

const selectableBy = (name: string): Pick<KindVersion, 'fields' | 'supportField'> => ({
  supportField: onlyTheseFields([`spec.${name}`, 'metadata.name', 'metadata.namespace']),
  fields({ spec }) {
    const color = isObject(spec) ? spec[name] : undefined
    return { [`spec.${name}`]: typeof color === 'string' ? color : '' }
  },
})

function fakeKind(group: string, kind: string, traits: Traits, version: Partial<KindVersion> = {}): Kind {
  const plural = `${kind.toLowerCase()}s`
  const apiVersion = group === '' ? 'v1' : `${group}/v1`
  return {
    origin: traits.lenientRouting ? 'custom' : 'builtin',
    group,
    names: {
      plural,
      singular: kind.toLowerCase(),
      kind,
      listKind: `${kind}List`,
      shortNames: [],
      categories: [],
    },
    namespaced: true,
    versions: [{ ...fakeVersion(apiVersion, kind), ...version }],
    storageVersion: 'v1',
    storedAs: apiVersion,
    keyPrefix: group === '' ? `/${plural}/` : `/${group}/${plural}/`,
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    traits,
    convert: object => object,
  }
}

const fakeVersion = (apiVersion: string, kind: string): KindVersion => ({
  name: 'v1',
  type: structuralType(builtinTypes(), { schema: () => undefined, written: () => undefined }),
  served: true,
  strategy: fakeRules(apiVersion, kind),
  subresources: {},
  columns: [
    { name: 'Name', type: 'string', format: 'name', description: 'Its name.', priority: 0 },
    { name: 'Color', type: 'string', format: '', description: 'Its color.', priority: 0 },
  ],
  tableRow: object => [
    object.metadata['name'] ?? '',
    isObject(object['spec']) ? (object['spec']['color'] ?? null) : null,
  ],
  supportField: onlyNameAndNamespace,
  fields: () => ({}),
})

const fakeRules = (apiVersion: string, kind: string): Strategy => ({
  decode(body: Value) {
    if (!isObject(body) || !isObject(body['metadata'])) throw badRequest(`this is no ${kind}`)
    return { object: { ...body, apiVersion, kind, metadata: body['metadata'] }, strict: [] }
  },
  applyDefaults: object => object,
  prepareForCreate: object => object,
  prepareForUpdate: object => object,
  validate: () => [],
  validateUpdate: () => [],
  blocksDeletion: () => false,
  prepareForDelete: object => object,
  warnings: () => [],
})
