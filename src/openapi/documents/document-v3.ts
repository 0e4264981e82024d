// Documents in version 3: one for each group version, and small ones for the discovery endpoints above them.
import type { ValueObject } from '../../meta/values/value.js'
import { inOrder, type Operation, sharedParameters } from '../operations/operations.js'
import type { Parameter } from '../operations/parameters.js'
import { responseSchema, V3 } from '../schemas/dialect.js'
import { encodeV3 } from './gnostic.js'
import { createPart, type Frame, type PartPrinter } from './parts.js'

/** The title of the document: of the server, or of a group with only custom kinds. */
export const infoOf = (isCustom: boolean, serverVersion: string): ValueObject =>
  isCustom ? { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' } : { title: 'Kubernetes', version: serverVersion }

export const PARTS_V3: PartPrinter = {
  print: paths => createPart(paths, pathItem, new Map()),
  alone: { opening: '{"components":{"schemas":{', closing: '}}}' },
  encode: encodeV3,
}

export const frameV3 = (info: ValueObject, hasSecurity: boolean): Frame => ({
  opening: `{"openapi":"3.0.0","info":${JSON.stringify(info)},"paths":{`,
  middle: '},"components":{"schemas":{',
  closing: `}${hasSecurity ? `,"securitySchemes":${JSON.stringify(SECURITY)}` : ''}}}`,
})

/** For documents without definitions: an empty `schemas` would be lost when clients encode the document again. */
export const frameWithoutSchemas = (info: ValueObject): Frame => ({
  opening: `{"openapi":"3.0.0","info":${JSON.stringify(info)},"paths":{`,
  middle: '},"components":{',
  closing: `"securitySchemes":${JSON.stringify(SECURITY)}}}`,
})

export const SECURITY = {
  BearerToken: { description: 'A bearer token.', in: 'header', name: 'authorization', type: 'apiKey' },
}

function pathItem(operations: readonly Operation[]): ValueObject {
  const shared = sharedParameters(operations)
  const names = new Set(shared.map(({ name }) => name))
  return {
    ...Object.fromEntries(operations.map(each => [each.method, printOperation(each, names)])),
    ...(shared.length > 0 && { parameters: shared.map(printParameter) }),
  }
}

function printOperation(operation: Operation, shared: ReadonlySet<string>): ValueObject {
  const { tag, description, id, body, consumes, produces, responses: answers, action, bodyKind } = operation
  const parameters = inOrder(operation.parameters.filter(({ name }) => !shared.has(name)))
  return {
    tags: [tag],
    description,
    operationId: id,
    ...(parameters.length > 0 && { parameters: parameters.map(printParameter) }),
    ...(body && {
      requestBody: { content: content(consumes, body.definition), ...(body.isRequired && { required: true }) },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([code, definition]) => [
          code,
          { description: REASONS[code]!, content: content(produces, definition) },
        ]),
      ),
      401: { description: REASONS['401']! },
    },
    ...(action && { 'x-kubernetes-action': action }),
    ...(bodyKind && { 'x-kubernetes-group-version-kind': { ...bodyKind } }),
  }
}

export const REASONS: Readonly<Record<string, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  401: 'Unauthorized',
}

const content = (mediaTypes: readonly string[], definition: string): ValueObject =>
  Object.fromEntries(mediaTypes.map(type => [type, { schema: responseSchema(V3, definition) }]))

const printParameter = ({ name, in: location, type, description }: Parameter): ValueObject => ({
  name,
  in: location,
  description,
  ...(location === 'path' && { required: true }),
  schema: { type, uniqueItems: true },
})
