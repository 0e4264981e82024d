// What a definition need not say.
import { type ApiObject } from '../../meta/object/api-object.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'

const WEBHOOK_PORT = 443

/** Changes the definition in place. */
export function defaultDefinition(definition: ApiObject): ApiObject {
  const spec = definition['spec']
  if (!isObject(spec)) return definition
  if (isObject(spec['names'])) spec['names'] = defaultNames(spec['names'])
  if (!isObject(spec['conversion'])) spec['conversion'] = { strategy: 'None' }
  const webhook = spec['conversion']['webhook']
  if (isObject(webhook)) defaultWebhookPort(webhook['clientConfig'])
  return definition
}

export function defaultWebhookPort(clientConfig: Value | undefined): void {
  const service = isObject(clientConfig) ? clientConfig['service'] : undefined
  if (isObject(service) && service['port'] === undefined) service['port'] = WEBHOOK_PORT
}

/** In the order in which names are written. */
export function defaultNames({
  plural = '',
  singular,
  shortNames,
  kind = '',
  listKind,
  categories,
}: ValueObject): ValueObject {
  const text = typeof kind === 'string' ? kind : ''
  const one = singular || text.toLowerCase()
  const list = listKind || (text && `${text}List`)
  return {
    plural,
    ...(one && { singular: one }),
    ...(shortNames && { shortNames }),
    kind,
    ...(list && { listKind: list }),
    ...(categories && { categories }),
  }
}
