// A virtual resource whose kind is one of the built-in types.
import { isObject, type Value } from '../meta/values/value.js'
import { builtinTypes } from '../types/type-table.js'
import { protobufCodec, shapeTyped, versionOf } from '../types/typed-body.js'
import type { VirtualResource } from './virtual-resource.js'

/**
 * `resource` as discovery lists it: `tokenreviews`, or `serviceaccounts/token` for a subresource. A body may be of an older
 * version in `sameFields`, which has the same fields.
 */
export function typedVirtualResource(
  apiVersion: string,
  resource: string,
  answer: VirtualResource['answer'],
  sameFields: readonly string[] = [],
): VirtualResource {
  const table = builtinTypes()
  const facts = table.resources(apiVersion).find(({ name }) => name === resource)
  if (!facts) throw new Error(`${resource} is not among the resources of ${apiVersion}`)
  const { kind } = facts
  // The kind of a subresource may be of another group: pods/eviction takes a policy/v1 Eviction.
  const spoken = facts.group === undefined ? apiVersion : `${facts.group}/${facts.version}`
  return {
    apiVersion,
    resource: facts,
    body: {
      kind,
      version: versionOf(spoken),
      decode: (body, duplicates, cbor) =>
        shapeTyped(table, spoken, kind, inVersion(spoken, kind, body, sameFields), duplicates, cbor),
      protobuf: protobufCodec(table, spoken, kind, sameFields),
    },
    answer,
  }
}

/** The body in the version that is served, if it is of an older version. */
const inVersion = (served: string, kind: string, body: Value, older: readonly string[]): Value =>
  isObject(body) && body['kind'] === kind && older.some(version => body['apiVersion'] === version)
    ? { ...body, apiVersion: served }
    : body
