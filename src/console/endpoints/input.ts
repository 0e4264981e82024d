// The parts of a body that several endpoints read.

import { typeOfSchema } from '../../authoring/cel-setting.js'
import type { Registry } from '../../kinds/registry.js'
import { badRequest } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { copyValue, getOwn, isObject, type ValueObject } from '../../meta/values/value.js'
import { isTooDeep } from '../../schema/structural.js'
import type { Type } from '../../types/type.js'

export interface SchemaChoice {
  readonly type: Type
  /** What the objects of a kind have; absent for a schema by itself. */
  readonly typeMeta?: { readonly apiVersion: string; readonly kind: string; readonly namespaced: boolean }
}

/** `{"kind": {"group", "version", "kind"}}` or `{"openAPIV3Schema": …}`; undefined if there is none. */
export function schemaIn(body: ValueObject, registry: Registry): SchemaChoice | undefined {
  const schema = getOwn(body, 'schema')
  if (schema === undefined || schema === null) return undefined
  if (isObject(schema)) {
    const named = getOwn(schema, 'kind')
    if (isObject(named)) return ofKind(named, registry)
    const written = getOwn(schema, 'openAPIV3Schema')
    if (isObject(written)) return { type: typeOfSchema(decodeSchema(written, registry)) }
  }
  throw badRequest('schema must be {"kind": {"group", "version", "kind"}} or {"openAPIV3Schema": {…}}')
}

function ofKind(named: ValueObject, registry: Registry): SchemaChoice {
  const [group, version, name] = ['group', 'version', 'kind'].map(key => stringAt(named, key)) as [
    string,
    string,
    string,
  ]
  const kind = registry.findKind(group, name)
  const found = kind?.versions.find(each => each.served && each.name === version)
  const apiVersion = group === '' ? version : `${group}/${version}`
  if (!kind || !found) throw badRequest(`${apiVersion} ${name} is not served`)
  return { type: found.type, typeMeta: { apiVersion, kind: name, namespaced: kind.namespaced } }
}

/** The members of a schema have the JSON types that readers of schemas rely on only after a definition was decoded. */
function decodeSchema(written: ValueObject, registry: Registry): ValueObject {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: written } }
  const definition = { apiVersion: `${GROUP}/v1`, kind: KIND, metadata: {}, spec: { versions: [version] } }
  const [first] = objectsAt(objectAt(decodeDefinition(definition, registry), 'spec'), 'versions')
  return objectAt(objectAt(first!, 'schema'), 'openAPIV3Schema')
}

const GROUP = 'apiextensions.k8s.io'
const KIND = 'CustomResourceDefinition'

/** `{"definition": …}`. */
export function definitionIn(body: ValueObject, registry: Registry): ApiObject {
  const definition = getOwn(body, 'definition')
  if (!isObject(definition) || definition['kind'] !== KIND || definition['apiVersion'] !== `${GROUP}/v1`) {
    throw badRequest(`definition must be a ${KIND} of ${GROUP}/v1`)
  }
  return decodeDefinition(definition, registry)
}

/** Members of a wrong JSON type are refused as in a request. */
function decodeDefinition(written: ValueObject, registry: Registry): ApiObject {
  const { version } = registry.find(GROUP, 'v1', 'customresourcedefinitions')!
  const { object } = version.strategy.decode(copyValue(written), [])
  for (const each of objectsAt(objectAt(object, 'spec'), 'versions')) {
    const schema = objectAt(objectAt(each, 'schema'), 'openAPIV3Schema')
    if (isTooDeep(schema)) throw badRequest('the schema is nested too deeply')
  }
  return object
}
