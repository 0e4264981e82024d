// The webhooks of all configurations of one kind, in the order in which they are called: by the name of the
// configuration, then as they are listed in it. A webhook is compiled once for each change of its configuration.

import { compareTexts } from '../../meta/go/go-text.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { has, numberOrNone, objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { ClientConfig } from '../../webhook/client-config.js'
import { type MatchConditions, matchConditions } from '../expressions/match-conditions.js'
import { createCandidates, type FindCandidates, notReady } from '../matching/candidates.js'
import { type MatchResources, readWebhookResources } from '../matching/match-resources.js'

export interface Webhook {
  readonly name: string
  readonly configuration: string
  /** Distinguishes webhooks of the same name: the configuration, the name, and how many before have that name. */
  readonly uid: string
  /** Its place among all webhooks, for audit annotations. */
  readonly index: number
  readonly client: ClientConfig
  readonly resources: MatchResources
  readonly isFailureIgnored: boolean
  readonly conditions: MatchConditions
  /** Undefined in configurations of old versions of the API only. */
  readonly sideEffects: string | undefined
  readonly timeoutSeconds: number
  readonly reviewVersions: readonly string[]
  /** Whether it is called again when a later plugin has changed the object. */
  readonly isReinvoked: boolean
}

/** The webhooks of one configuration. */
export function webhooksOf(configuration: ApiObject): readonly Webhook[] {
  const { name: configurationName = '' } = metaOf(configuration)
  const counts = new Map<string, number>()
  return objectsAt(configuration, 'webhooks').map(webhook => {
    const name = stringAt(webhook, 'name')
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    return compileWebhook(webhook, configurationName, `${configurationName}/${name}/${count}`)
  })
}

function compileWebhook(webhook: ValueObject, configuration: string, uid: string): Webhook {
  const failurePolicy = stringAt(webhook, 'failurePolicy')
  const conditions = objectsAt(webhook, 'matchConditions').map(condition => ({
    name: stringAt(condition, 'name'),
    expression: stringAt(condition, 'expression'),
  }))
  return {
    name: stringAt(webhook, 'name'),
    configuration,
    uid,
    index: 0,
    client: clientConfigOf(objectAt(webhook, 'clientConfig')),
    resources: readWebhookResources(webhook),
    isFailureIgnored: failurePolicy === 'Ignore',
    conditions: matchConditions(conditions, failurePolicy),
    sideEffects: has(webhook, 'sideEffects') ? stringAt(webhook, 'sideEffects') : undefined,
    timeoutSeconds: numberOrNone(webhook, 'timeoutSeconds') ?? DEFAULT_TIMEOUT_SECONDS,
    reviewVersions: stringsAt(webhook, 'admissionReviewVersions'),
    isReinvoked: stringAt(webhook, 'reinvocationPolicy') === 'IfNeeded',
  }
}

const DEFAULT_TIMEOUT_SECONDS = 10

function clientConfigOf(config: ValueObject): ClientConfig {
  const service = objectOrNone(config, 'service')
  return {
    ...(has(config, 'url') && { url: stringAt(config, 'url') }),
    ...(has(config, 'caBundle') && { caBundle: stringAt(config, 'caBundle') }),
    ...(service && {
      service: {
        namespace: stringAt(service, 'namespace'),
        name: stringAt(service, 'name'),
        path: stringAt(service, 'path'),
        port: numberOrNone(service, 'port'),
      },
    }),
  }
}

// ---- by resource

/** The configurations of one kind, as an informer keeps them. */
export interface WebhookConfigurations {
  all(): Iterable<readonly Webhook[]>
  /** Grows with each change. */
  readonly generation: number
  /** False while there are configurations that cannot be read. */
  readonly isComplete: boolean
}

/** Webhooks with a rule that may match the request, in the order of the calls. */
export type WebhookSource = FindCandidates<Webhook>

/** Sorts the webhooks once for each change. */
export function createWebhookSource(configurations: WebhookConfigurations): WebhookSource {
  let generation = -1
  let candidates: WebhookSource
  return attributes => {
    if (!configurations.isComplete) throw notReady(attributes)
    if (generation !== configurations.generation) {
      ;({ generation } = configurations)
      candidates = createCandidates(inOrder(configurations.all()), ({ resources }) => resources)
    }
    return candidates(attributes)
  }
}

const inOrder = (configurations: Iterable<readonly Webhook[]>): Webhook[] =>
  [...configurations]
    .filter(webhooks => webhooks.length > 0)
    .toSorted(([a], [b]) => compareTexts(a!.configuration, b!.configuration))
    .flat()
    .map(withIndex)

const withIndex = (webhook: Webhook, index: number): Webhook => ({ ...webhook, index })
