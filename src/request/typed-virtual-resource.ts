// A virtual kind of the built-in types, from what the tables know of it.
import { builtinTypes } from '../types/type-table.js'
import { protobufCodec, shapeTyped, versionOf } from '../types/typed-body.js'
import type { VirtualResource } from './virtual-resource.js'

/** `resource` as discovery lists it: `tokenreviews`, or `serviceaccounts/token` for a part. */
export function typedVirtualResource(
  apiVersion: string,
  resource: string,
  answer: VirtualResource['answer'],
): VirtualResource {
  const table = builtinTypes()
  const facts = table.resources(apiVersion).find(({ name }) => name === resource)
  if (!facts) throw new Error(`${resource} is not among the resources of ${apiVersion}`)
  const { kind } = facts
  // Parts may speak the language of another group.
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
