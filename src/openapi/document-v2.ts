// The document in version 2: one for everything. It is joined from pieces that are kept, one for each group version,
// so that a change of one kind costs its own piece and the joining.
import { createHash } from 'node:crypto'
import type { ValueObject } from '../meta/value.js'
import { customDefinitions } from './custom-schemas.js'
import { type Definition, V2 } from './dialect.js'
import { infoOf, REASONS, reachable, SECURITY } from './document-v3.js'
import { inOrder, type Operation, operationsOf, sharedParameters } from './operations.js'
import type { Parameter } from './parameters.js'
import type { PublishedVersion } from './published-versions.js'
import type { FindDefinition } from './type-schemas.js'

/** A part of the document: JSON members by their names. */
export interface Piece {
  readonly paths: string
  readonly definitions: ReadonlyMap<string, Definition>
  readonly parameters: ReadonlyMap<string, string>
}

export function versionPiece(version: PublishedVersion, find: FindDefinition): Piece {
  const custom = new Map(version.customKinds.flatMap(kind => [...customDefinitions(kind, V2)]))
  return makePiece(operationsOf(version), name => custom.get(name) ?? find(name))
}

export function makePiece(paths: ReadonlyMap<string, readonly Operation[]>, find: FindDefinition): Piece {
  const parameters = new Map<string, string>()
  const printed = [...paths].map(
    ([path, own]) => `${JSON.stringify(path)}:${JSON.stringify(pathItem(own, parameters))}`,
  )
  return { paths: printed.join(), definitions: reachable([...paths.values()].flat(), find), parameters }
}

export function joinPieces(pieces: readonly Piece[], serverVersion: string): string {
  const definitions = new Map(pieces.flatMap(piece => [...piece.definitions]))
  const parameters = new Map(pieces.flatMap(piece => [...piece.parameters]))
  const members = (entries: Iterable<[string, string]>): string =>
    [...entries]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
      .join()
  const paths = pieces.flatMap(piece => piece.paths || []).join()
  const defined = members([...definitions].map(([name, { json }]) => [name, json]))
  return (
    `{"swagger":"2.0","info":${JSON.stringify(infoOf(false, serverVersion))},"paths":{${paths}},` +
    `"definitions":{${defined}},"parameters":{${members(parameters)}},` +
    `"securityDefinitions":${JSON.stringify(SECURITY)},"security":[{"BearerToken":[]}]}`
  )
}

/** Parameters are the same everywhere: they are said once, and referred to. */
function pathItem(operations: readonly Operation[], parameters: Map<string, string>): ValueObject {
  const shared = sharedParameters(operations)
  const names = new Set(shared.map(({ name }) => name))
  return {
    ...Object.fromEntries(operations.map(each => [each.method, printOperation(each, names, parameters)])),
    ...(shared.length > 0 && { parameters: shared.map(each => referTo(each, parameters)) }),
  }
}

function printOperation(
  operation: Operation,
  shared: ReadonlySet<string>,
  parameters: Map<string, string>,
): ValueObject {
  const { tag, description, id, body, consumes, produces, answers, isDeprecated, action, exchanged } = operation
  const own = inOrder(operation.parameters.filter(({ name }) => !shared.has(name)))
  const all = [...(body ? [bodyParameter(body)] : []), ...own.map(each => referTo(each, parameters))]
  return {
    description,
    consumes: [...consumes],
    produces: [...produces],
    schemes: ['https'],
    tags: [tag],
    operationId: id,
    ...(all.length > 0 && { parameters: all }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([code, definition]) => [
          code,
          { description: REASONS[code]!, schema: V2.refTo(definition) },
        ]),
      ),
      401: { description: REASONS['401']! },
    },
    ...(isDeprecated && { deprecated: true }),
    ...(action && { 'x-kubernetes-action': action }),
    ...(exchanged && { 'x-kubernetes-group-version-kind': { ...exchanged } }),
  }
}

const bodyParameter = ({ definition, isRequired }: NonNullable<Operation['body']>): ValueObject => ({
  name: 'body',
  in: 'body',
  ...(isRequired && { required: true }),
  schema: V2.refTo(definition),
})

const references = new WeakMap<Parameter, { readonly name: string; readonly json: string }>()

function referTo(parameter: Parameter, parameters: Map<string, string>): ValueObject {
  // What names the object differs from kind to kind.
  if (parameter.name === 'name') return printParameter(parameter)
  let reference = references.get(parameter)
  if (reference === undefined) {
    const json = JSON.stringify(printParameter(parameter))
    const hash = createHash('sha256').update(json).digest('base64url').slice(0, 8)
    reference = { name: `${parameter.name}-${hash}`, json }
    references.set(parameter, reference)
  }
  parameters.set(reference.name, reference.json)
  return { $ref: `#/parameters/${reference.name}` }
}

const printParameter = ({ name, in: place, type, description }: Parameter): ValueObject => ({
  uniqueItems: true,
  type,
  description,
  name,
  in: place,
  ...(place === 'path' && { required: true }),
})
