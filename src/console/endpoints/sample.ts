// `POST /console/api/sample`: an object to start from, for a kind or a schema.

import { sampleObject } from '../../authoring/sample-object.js'
import type { Registry } from '../../kinds/registry.js'
import { badRequest } from '../../meta/errors/status.js'
import { getOwn } from '../../meta/values/value.js'
import type { Endpoint } from './endpoint.js'
import { schemaIn } from './input.js'

export const createSample =
  (registry: Registry): Endpoint =>
  ({ body }) => {
    const schema = schemaIn(body, registry)
    if (!schema) throw badRequest('schema is missing')
    const { type, typeMeta } = schema
    const sample = sampleObject(type, { optional: getOwn(body, 'optional') === true })
    if (!typeMeta) return { object: sample }
    const { apiVersion, kind, namespaced } = typeMeta
    const metadata = { name: 'example', ...(namespaced && { namespace: 'default' }) }
    return { object: { apiVersion, kind, metadata, ...sample } }
  }
