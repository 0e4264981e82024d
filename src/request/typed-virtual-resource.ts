// A virtual resource whose kind is one of the built-in types.
import { builtinTypes } from '../types/type-table.js'
import { protobufCodec, shapeTyped, versionOf } from '../types/typed-body.js'
import type { VirtualResource } from './virtual-resource.js'

/** `resource` as discovery lists it: `tokenreviews`, or `serviceaccounts/token` for a subresource. */
export function typedVirtualResource(
  apiVersion: string,
  resource: string,
  answer: VirtualResource['answer'],
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
      decode: (body, duplicates, cbor) => shapeTyped(table, spoken, kind, body, duplicates, cbor),
      protobuf: protobufCodec(table, spoken, kind),
    },
    answer,
  }
}
