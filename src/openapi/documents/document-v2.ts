// The document in version 2: one for the whole API, joined from the parts of each resource and custom kind.
import { createHash } from 'node:crypto'
import type { ValueObject } from '../../meta/values/value.js'
import { inOrder, type Operation, sharedParameters } from '../operations/operations.js'
import type { Parameter } from '../operations/parameters.js'
import { responseSchema, V2 } from '../schemas/dialect.js'
import { infoOf, REASONS, SECURITY } from './document-v3.js'
import { encodeV2 } from './gnostic.js'
import { createPart, type Frame, type Part, type PartPrinter } from './parts.js'

export const PARTS_V2: PartPrinter = {
  print: paths => {
    const parameters = new Map<string, string>()
    return createPart(paths, operations => pathItem(operations, parameters), parameters)
  },
  alone: { opening: '{"definitions":{', closing: '}}' },
  encode: encodeV2,
}

export function frameV2(parts: readonly Part[], serverVersion: string): Frame {
  const parameters = new Map<string, string>()
  for (const part of parts) for (const [name, json] of part.parameters) parameters.set(name, json)
  const members = [...parameters]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
  return {
    opening: `{"swagger":"2.0","info":${JSON.stringify(infoOf(false, serverVersion))},"paths":{`,
    middle: '},"definitions":{',
    closing: `},"parameters":{${members.join()}},"securityDefinitions":${JSON.stringify(SECURITY)},"security":[{"BearerToken":[]}]}`,
  }
}

/** Parameters repeat, so they are defined once and referred to. */
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
  const { tag, description, id, body, consumes, produces, responses: answers, action, bodyKind } = operation
  const own = inOrder(operation.parameters.filter(({ name }) => !shared.has(name)))
  const all = [...(body ? [bodyParameter(body)] : []), ...own.map(each => referTo(each, parameters))]
  return {
    description,
    ...(consumes.length > 0 && { consumes: [...consumes] }),
    produces: [...produces],
    schemes: ['https'],
    tags: [tag],
    operationId: id,
    ...(all.length > 0 && { parameters: all }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([code, definition]) => [
          code,
          { description: REASONS[code]!, schema: responseSchema(V2, definition) },
        ]),
      ),
      401: { description: REASONS['401']! },
    },
    ...(action && { 'x-kubernetes-action': action }),
    ...(bodyKind && { 'x-kubernetes-group-version-kind': { ...bodyKind } }),
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
  // The description of the name parameter differs between kinds.
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

const printParameter = ({ name, in: location, type, description }: Parameter): ValueObject => ({
  uniqueItems: true,
  type,
  description,
  name,
  in: location,
  ...(location === 'path' && { required: true }),
})
