// The document of a server in version 2 as one in version 3, for servers that publish only that. As in kube-apiserver
// some is lost: what has no place in its conversion, such as shared parameters, is left out.
import { objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../meta/values/access.js'
import { isObject, type Value, type ValueObject } from '../meta/values/value.js'

/** Throws if the document is nested too deeply. */
export function convertV2(document: ValueObject): ValueObject {
  const { info, externalDocs } = document
  const produces = stringsAt(document, 'produces')
  return {
    openapi: '3.0.0',
    ...defined({ info, externalDocs }),
    paths: mapValues(objectAt(document, 'paths'), (path, item) => (path.startsWith('x-') ? item : pathItem(item))),
    components: {
      ...present(document, 'definitions', 'schemas', schema),
      ...present(document, 'responses', 'responses', each => response(each, produces)),
      ...present(document, 'securityDefinitions', 'securitySchemes', securityScheme),
    },
  }
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']

function pathItem(item: ValueObject): ValueObject {
  const methods = METHODS.filter(method => isObject(item[method]))
  const parameters = objectsAt(item, 'parameters')
  return {
    ...extensionsOf(item),
    ...defined({ $ref: item['$ref'] }),
    ...Object.fromEntries(methods.map(method => [method, operation(objectAt(item, method))])),
    ...(parameters.length > 0 && { parameters: parameters.map(parameter) }),
  }
}

function operation(given: ValueObject): ValueObject {
  const { description, externalDocs, tags, summary, deprecated, operationId } = given
  const parameters = objectsAt(given, 'parameters')
  const body = parameters.findLast(isBody)
  const others = parameters.filter(each => !isBody(each))
  const produces = stringsAt(given, 'produces')
  return {
    ...extensionsOf(given),
    ...defined({ description, externalDocs, tags, summary, deprecated, operationId }),
    ...(others.length > 0 && { parameters: others.map(parameter) }),
    ...(body && { requestBody: contentOf(stringsAt(given, 'consumes'), objectAt(body, 'schema')) }),
    responses: mapValues(objectAt(given, 'responses'), (code, each) =>
      code.startsWith('x-') ? each : response(each, produces),
    ),
  }
}

const isBody = (given: ValueObject): boolean =>
  stringAt(given, 'name') === 'body' && objectOrNone(given, 'schema') !== undefined

function contentOf(mediaTypes: readonly string[], given: ValueObject): ValueObject {
  if (mediaTypes.length === 0) return {}
  return { content: Object.fromEntries(mediaTypes.map(each => [each, { schema: schema(given) }])) }
}

function response(given: ValueObject, produces: readonly string[]): ValueObject {
  const { description } = given
  const own = objectOrNone(given, 'schema')
  return {
    ...extensionsOf(given),
    ...movedReference(given, '#/responses/', '#/components/responses/'),
    ...defined({ description }),
    ...(own && contentOf(produces, own)),
  }
}

function parameter(given: ValueObject): ValueObject {
  const { name, description, in: place, required, allowEmptyValue, type, format, uniqueItems } = given
  const own = objectOrNone(given, 'schema')
  return {
    ...extensionsOf(given),
    ...movedReference(given, '#/parameters/', '#/components/parameters/'),
    ...defined({ name, description, in: place, required, allowEmptyValue }),
    schema: own ? schema(own) : { type: type ?? '', ...defined({ format, uniqueItems }) },
  }
}

function securityScheme(given: ValueObject): ValueObject {
  const { description, type, name, in: place, flow, authorizationUrl, tokenUrl, scopes } = given
  return {
    ...extensionsOf(given),
    ...defined({ description, type, name, in: place }),
    ...(typeof flow === 'string' &&
      flow !== '' && { flows: { [flow]: defined({ authorizationUrl, tokenUrl, scopes }) } }),
  }
}

const DEFINITIONS = '#/definitions/'

/** Schemas in `allOf` and its kin keep their references, as in kube-apiserver. */
function schema(given: ValueObject): ValueObject {
  const { $ref, items, ...rest } = given
  const { additionalProperties, additionalItems } = rest
  const converted: ValueObject = {
    ...rest,
    ...present(given, 'properties', 'properties', schema),
    ...(items !== undefined && { items: Array.isArray(items) ? items.map(orSame) : orSame(items) }),
    ...(additionalProperties !== undefined && { additionalProperties: orSame(additionalProperties) }),
    ...(additionalItems !== undefined && { additionalItems: orSame(additionalItems) }),
  }
  if (typeof $ref !== 'string' || $ref === '') return converted
  const at = $ref.indexOf(DEFINITIONS)
  const reference = { $ref: at === -1 ? $ref : `#/components/schemas/${$ref.slice(at + DEFINITIONS.length)}` }
  // A reference has no other members beside it in version 3.
  return Object.keys(converted).length === 0 ? reference : { ...converted, allOf: [reference] }
}

const orSame = (given: Value): Value => (isObject(given) ? schema(given) : given)

// ---- members

function movedReference({ $ref }: ValueObject, from: string, to: string): ValueObject {
  return typeof $ref === 'string' ? { $ref: $ref.replace(from, to) } : {}
}

const extensionsOf = (given: ValueObject): ValueObject =>
  Object.fromEntries(Object.entries(given).filter(([name]) => name.startsWith('x-')))

/** Without members that are absent or empty. */
const defined = (members: Readonly<Record<string, Value | undefined>>): ValueObject =>
  Object.fromEntries(Object.entries(members).filter((member): member is [string, Value] => Boolean(member[1])))

const mapValues = (given: ValueObject, convert: (name: string, value: ValueObject) => Value): ValueObject =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, isObject(value) ? convert(name, value) : value]),
  )

/** A map under its new name, if it is there. */
function present(
  given: ValueObject,
  name: string,
  newName: string,
  convert: (value: ValueObject) => ValueObject,
): ValueObject {
  const map = objectOrNone(given, name)
  return map ? { [newName]: mapValues(map, (_, value) => convert(value)) } : {}
}
