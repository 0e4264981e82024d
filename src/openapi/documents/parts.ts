// A document is joined from parts that are cached as bytes: paths with their operations, and definitions. A protobuf
// message may be split into several pieces, which readers merge, so the parts can be joined in both formats.

import { keptBy, once } from '../../base/memo.js'
import type { Operation } from '../operations/operations.js'
import type { Definition } from '../schemas/dialect.js'
import type { FindDefinition } from '../schemas/type-schemas.js'

export type Paths = ReadonlyMap<string, readonly Operation[]>

/** Some paths of a document. */
export interface Part {
  /** JSON members: the paths with their operations. */
  readonly paths: Buffer
  /** The definitions that the operations refer to. */
  readonly names: readonly string[]
  /** The parameters that the operations refer to, as JSON by name. */
  readonly parameters: ReadonlyMap<string, string>
}

export const createPart = (
  paths: Paths,
  printPath: (operations: readonly Operation[]) => unknown,
  parameters: ReadonlyMap<string, string>,
): Part => ({
  paths: Buffer.from(
    [...paths].map(([path, own]) => `${JSON.stringify(path)}:${JSON.stringify(printPath(own))}`).join(),
  ),
  names: namedBy(paths),
  parameters,
})

function namedBy(paths: Paths): string[] {
  const names = new Set<string>()
  for (const { body, responses: answers } of [...paths.values()].flat()) {
    if (body) names.add(body.definition)
    for (const name of Object.values(answers)) names.add(name)
  }
  return [...names]
}

/** The JSON before, between and after paths and definitions. */
export interface Frame {
  readonly opening: string
  readonly middle: string
  readonly closing: string
}

/** How a version of OpenAPI prints parts. */
export interface PartPrinter {
  readonly print: (paths: Paths) => Part
  /** The JSON around a single definition that makes it a document. */
  readonly alone: { readonly opening: string; readonly closing: string }
  readonly encode: (json: Buffer) => Buffer
}

export interface Content {
  readonly frame: Frame
  readonly parts: readonly Part[]
  readonly definitions: ReadonlyMap<string, Definition>
}

export const contentOf = (frame: Frame, parts: readonly Part[], find: FindDefinition): Content => ({
  frame,
  parts,
  definitions: reachable(parts, find),
})

/** The definitions that operations refer to, directly or indirectly, by name. */
function reachable(parts: readonly Part[], find: FindDefinition): Map<string, Definition> {
  const found = new Map<string, Definition>()
  const open = parts.flatMap(({ names }) => names)
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue
    const definition = find(name)
    if (!definition) continue
    found.set(name, definition)
    open.push(...definition.needs)
  }
  return new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Whether a definition is reachable; found out at the first question for a name that exists. */
export function namesIn(parts: readonly Part[], find: FindDefinition): (name: string) => boolean {
  const all = once(() => reachable(parts, find))
  return name => find(name) !== undefined && all().has(name)
}

export function jsonPieces({ frame, parts, definitions }: Content): Buffer[] {
  const paths = parts.map(part => part.paths).filter(({ length }) => length > 0)
  const members = [...definitions].map(([name, { json }], i) => [
    Buffer.from(`${i === 0 ? '' : ','}${JSON.stringify(name)}:`),
    json,
  ])
  return [
    Buffer.from(frame.opening),
    ...paths.flatMap((part, i) => (i === 0 ? [part] : [COMMA, part])),
    Buffer.from(frame.middle),
    ...members.flat(),
    Buffer.from(frame.closing),
  ]
}

const COMMA = Buffer.from(',')

export interface ProtobufPrinter {
  readonly pieces: (content: Content) => Buffer[]
  /** Creates the cached parts, one per step. */
  readonly work: (content: Content) => Iterator<void>
}

export function createProtobufPrinter({ alone, encode }: PartPrinter): ProtobufPrinter {
  const around = (opening: string, json: Buffer, closing: string): Buffer =>
    encode(Buffer.concat([Buffer.from(opening), json, Buffer.from(closing)]))
  const pathsOf = keptBy(({ paths }: Part) => around('{"paths":{', paths, '}}'))
  const definitionOf = keptBy(({ json }: Definition, name: string) =>
    around(`${alone.opening}${JSON.stringify(name)}:`, json, alone.closing),
  )
  return {
    pieces: ({ frame, parts, definitions }) => [
      encode(Buffer.from(frame.opening + frame.middle + frame.closing)),
      ...parts.map(part => pathsOf(part)),
      ...[...definitions].map(([name, definition]) => definitionOf(definition, name)),
    ],
    *work({ parts, definitions }) {
      for (const part of parts) yield void pathsOf(part)
      for (const [name, definition] of definitions) yield void definitionOf(definition, name)
    },
  }
}
