// The webhooks of all configurations of one kind, in the order in which they are called: by the name of the
// configuration, then as they are listed in it. A webhook is compiled once for each change of its configuration.

import { compareTexts } from '../../meta/go/go-text.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { type LabelSelector, selectorOf } from '../../meta/selectors/label-selectors.js'
import { has, numberOrNone, objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { ClientConfig } from '../../webhook/client-config.js'
import type { Operation } from '../attributes.js'
import { type MatchConditions, matchConditions } from '../expressions/match-conditions.js'

export interface Webhook {
  readonly name: string
  readonly configuration: string
  /** Distinguishes webhooks of the same name: the configuration, the name, and how many before have that name. */
  readonly uid: string
  /** Its place among all webhooks, for audit annotations. */
  readonly index: number
  readonly client: ClientConfig
  readonly rules: readonly WebhookRule[]
  readonly isFailureIgnored: boolean
  /** Whether a rule also holds for other versions of the resource. */
  readonly matchesEquivalent: boolean
  readonly namespaceSelector: LabelSelector
  readonly objectSelector: LabelSelector
  readonly conditions: MatchConditions
  /** Undefined in configurations of old versions of the API only. */
  readonly sideEffects: string | undefined
  readonly timeoutSeconds: number
  readonly reviewVersions: readonly string[]
  /** Whether it is called again when a later plugin has changed the object. */
  readonly isReinvoked: boolean
}

export interface WebhookRule {
  readonly operations: readonly string[]
  readonly groups: readonly string[]
  readonly versions: readonly string[]
  readonly resources: readonly RuleResource[]
  readonly scope: string
}

export interface RuleResource {
  readonly resource: string
  readonly subresource: string
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
    rules: objectsAt(webhook, 'rules').map(compileRule),
    isFailureIgnored: failurePolicy === 'Ignore',
    matchesEquivalent: stringAt(webhook, 'matchPolicy') === 'Equivalent',
    namespaceSelector: selectorIn(webhook, 'namespaceSelector'),
    objectSelector: selectorIn(webhook, 'objectSelector'),
    conditions: matchConditions(conditions, failurePolicy),
    sideEffects: has(webhook, 'sideEffects') ? stringAt(webhook, 'sideEffects') : undefined,
    timeoutSeconds: numberOrNone(webhook, 'timeoutSeconds') ?? DEFAULT_TIMEOUT_SECONDS,
    reviewVersions: stringsAt(webhook, 'admissionReviewVersions'),
    isReinvoked: stringAt(webhook, 'reinvocationPolicy') === 'IfNeeded',
  }
}

const DEFAULT_TIMEOUT_SECONDS = 10

/** The selector was validated when the configuration was written; an absent one selects everything. */
function selectorIn(webhook: ValueObject, field: string): LabelSelector {
  const selector = selectorOf(objectOrNone(webhook, field) ?? {})
  return selector.ok ? selector.value : 'nothing'
}

const compileRule = (rule: ValueObject): WebhookRule => ({
  operations: stringsAt(rule, 'operations'),
  groups: stringsAt(rule, 'apiGroups'),
  versions: stringsAt(rule, 'apiVersions'),
  resources: stringsAt(rule, 'resources').map(text => {
    const slash = text.indexOf('/')
    return slash < 0
      ? { resource: text, subresource: '' }
      : { resource: text.slice(0, slash), subresource: text.slice(slash + 1) }
  }),
  scope: stringAt(rule, 'scope') || '*',
})

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
}

export interface WebhookSource {
  /** Webhooks with a rule for this operation on this resource in some version and scope, in the order of the calls. */
  webhooksFor(group: string, resource: string, subresource: string, operation: Operation): readonly Webhook[]
}

const NONE: readonly Webhook[] = []
/** Requests name resources that exist, so that this limit is hardly ever reached. */
const MAX_RESOURCES = 10_000

/** Finds the webhooks of a resource once for each change, so that the many that do not match cost nothing. */
export function createWebhookSource(configurations: WebhookConfigurations): WebhookSource {
  let generation = -1
  let sorted: readonly Webhook[] = NONE
  const byResource = new Map<string, readonly Webhook[]>()

  function refresh(): void {
    generation = configurations.generation
    sorted = [...configurations.all()]
      .filter(webhooks => webhooks.length > 0)
      .toSorted(([a], [b]) => compareTexts(a!.configuration, b!.configuration))
      .flat()
      .map(withIndex)
    byResource.clear()
  }

  return {
    webhooksFor(group, resource, subresource, operation) {
      if (generation !== configurations.generation) refresh()
      if (sorted.length === 0) return NONE
      const key = `${group}/${resource}/${subresource}/${operation}`
      let found = byResource.get(key)
      if (!found) {
        found = sorted.filter(({ rules }) =>
          rules.some(rule => holdsFor(rule, operation, resource, subresource) && includes(rule.groups, group)),
        )
        if (byResource.size >= MAX_RESOURCES) byResource.clear()
        byResource.set(key, found)
      }
      return found
    },
  }
}

const withIndex = (webhook: Webhook, index: number): Webhook => ({ ...webhook, index })

/** Whether a list of a rule has a value; `*` stands for all values. */
export const includes = (list: readonly string[], value: string): boolean => list.includes('*') || list.includes(value)

/** Whether a rule holds for an operation on a resource, in some group, version and scope. */
export const holdsFor = (
  { operations, resources }: WebhookRule,
  operation: string,
  resource: string,
  subresource: string,
): boolean =>
  includes(operations, operation) &&
  resources.some(
    each =>
      (each.resource === '*' || each.resource === resource) &&
      (each.subresource === '*' || each.subresource === subresource),
  )
