// The conversion between the versions of a custom kind, by its definition.

import { type ConvertObjects, renameVersion } from '../convert/conversion.js'
import { CONVERSION_ANNOTATION, readDeclaredConversion } from '../convert/declared-conversion.js'
import { type ConvertFunction, convertByFunction } from '../convert/function-conversion.js'
import { convertByWebhook } from '../convert/webhook-conversion.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import type { Webhooks } from '../webhook/client.js'
import { specOf } from './definition.js'

/** What converts objects for definitions. */
export interface Converters {
  readonly webhooks: Webhooks
  /** By the name of the definition: functions that stand in for whatever strategy it names. */
  readonly functions?: Readonly<Record<string, ConvertFunction>> | undefined
}

export function conversionOf(definition: ApiObject, { webhooks, functions = {} }: Converters): ConvertObjects {
  const { name = '', annotations = {} } = metaOf(definition)
  if (Object.hasOwn(functions, name)) return convertByFunction(functions[name]!)
  const described = annotations[CONVERSION_ANNOTATION]
  if (described !== undefined) return convertByFunction(byDescription(described))
  const { conversion } = specOf(definition)
  if (conversion?.strategy !== 'Webhook') return renameVersion
  const { clientConfig = {}, conversionReviewVersions } = conversion.webhook ?? {}
  return convertByWebhook(webhooks, { clientConfig, conversionReviewVersions: conversionReviewVersions ?? [] })
}

/** The description is read when an object is first converted; if it is wrong, that is what the client gets. */
function byDescription(text: string): ConvertFunction {
  let read: ReturnType<typeof readDeclaredConversion> | undefined
  return (object, to) => {
    read ??= readDeclaredConversion(text)
    if (!read.ok) throw new Error(`the annotation ${CONVERSION_ANNOTATION} is wrong: ${read.error}`)
    return read.value.convert(object, to)
  }
}
