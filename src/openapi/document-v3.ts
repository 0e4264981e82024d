// Documents in version 3: one for each group version, and small ones for the pages above them.
import type { ValueObject } from '../meta/value.js'
import { customDefinitions } from './custom-schemas.js'
import { type Definition, V3 } from './dialect.js'
import { inOrder, type Operation, operationsOf, sharedParameters } from './operations.js'
import type { Parameter } from './parameters.js'
import type { PublishedVersion } from './published-versions.js'
import type { FindDefinition } from './type-schemas.js'

/** Who the document speaks for: the server, or whoever defined the kinds. */
export const infoOf = (isCustom: boolean, serverVersion: string): ValueObject =>
  isCustom ? { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' } : { title: 'Kubernetes', version: serverVersion }

export function versionDocument(version: PublishedVersion, find: FindDefinition, serverVersion: string): string {
  const custom = new Map(version.customKinds.flatMap(kind => [...customDefinitions(kind, V3)]))
  return printDocument(
    infoOf(version.isCustom, serverVersion),
    operationsOf(version),
    name => custom.get(name) ?? find(name),
    !version.isCustom,
  )
}

export function printDocument(
  info: ValueObject,
  paths: ReadonlyMap<string, readonly Operation[]>,
  find: FindDefinition,
  hasSecurity: boolean,
): string {
  const operations = [...paths.values()].flat()
  const printedPaths = [...paths].map(([path, own]) => `${JSON.stringify(path)}:${JSON.stringify(pathItem(own))}`)
  const schemas = [...reachable(operations, find)].map(([name, { json }]) => `${JSON.stringify(name)}:${json}`)
  const security = hasSecurity ? `,"securitySchemes":${JSON.stringify(SECURITY)}` : ''
  return `{"openapi":"3.0.0","info":${JSON.stringify(info)},"paths":{${printedPaths.join()}},"components":{"schemas":{${schemas.join()}}${security}}}`
}

export const SECURITY = {
  BearerToken: { description: 'A bearer token.', in: 'header', name: 'authorization', type: 'apiKey' },
}

/** The definitions that operations name, and all that these refer to, by name. */
export function reachable(operations: readonly Operation[], find: FindDefinition): Map<string, Definition> {
  const found = new Map<string, Definition>()
  const open = operations.flatMap(({ body, answers }) => [
    ...(body ? [body.definition] : []),
    ...Object.values(answers),
  ])
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue
    const definition = find(name)
    if (!definition) continue
    found.set(name, definition)
    open.push(...definition.needs)
  }
  return new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
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
  const { tag, description, id, body, consumes, produces, answers, isDeprecated, action, exchanged } = operation
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
    ...(isDeprecated && { deprecated: true }),
    ...(action && { 'x-kubernetes-action': action }),
    ...(exchanged && { 'x-kubernetes-group-version-kind': { ...exchanged } }),
  }
}

export const REASONS: Readonly<Record<string, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  401: 'Unauthorized',
}

const content = (mediaTypes: readonly string[], definition: string): ValueObject =>
  Object.fromEntries(mediaTypes.map(type => [type, { schema: V3.refTo(definition) }]))

const printParameter = ({ name, in: place, type, description }: Parameter): ValueObject => ({
  name,
  in: place,
  description,
  ...(place === 'path' && { required: true }),
  schema: { type, uniqueItems: true },
})
