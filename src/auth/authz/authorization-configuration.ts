// The authorizers of a server, as --authorization-config describes them: an AuthorizationConfiguration with a list of
// authorizers, of which webhooks may be there several times, each with its own settings and match conditions.
import { readFileSync, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { once } from '../../base/memo.js'
import { UsageError } from '../../base/usage-error.js'
import { CodecError } from '../../codec/codec-error.js'
import { decodeYaml } from '../../codec/yaml.js'
import {
  asString,
  asStruct,
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
  printFieldErrors,
} from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain } from '../../meta/object/names.js'
import { has, objectAt, objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import { parseDuration, printDuration } from '../../meta/values/time.js'
import { isObject, type ValueObject } from '../../meta/values/value.js'
import { type ConfigurationScheme, decodeConfiguration } from '../../types/configuration-document.js'
import type { FieldSpec, TypeSpec } from '../../types/type.js'
import { builtinTypesAnd, type TypeTable } from '../../types/type-table.js'
import type { ClientConfig } from '../../webhook/client-config.js'
import { kubeconfigTarget } from '../../webhook/kubeconfig-target.js'
import { openError } from '../../webhook/webhook-users.js'
import { compileConditions, type ReviewCondition } from './review-conditions.js'

/** In the order of kube-apiserver's messages. */
export const AUTHORIZER_TYPES = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const
export type AuthorizerType = (typeof AUTHORIZER_TYPES)[number]

export type AuthorizerSpec =
  | { readonly type: Exclude<AuthorizerType, 'Webhook'>; readonly name: string }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: AuthorizationWebhook }

export interface AuthorizationWebhook {
  readonly target: () => Promise<ClientConfig>
  /** Of the SubjectAccessReview: `v1` or `v1beta1`. */
  readonly version: string
  readonly timeoutMs: number
  readonly authorizedTtlMs: number
  readonly unauthorizedTtlMs: number
  readonly failurePolicy: 'NoOpinion' | 'Deny'
  readonly conditions: readonly ReviewCondition[]
}

const GROUP = 'apiserver.config.k8s.io'

const SCHEME: ConfigurationScheme = {
  kinds: ['v1', 'v1beta1', 'v1alpha1'].map(version => `${GROUP}/${version} AuthorizationConfiguration`),
  scheme: 'k8s.io/apiserver/pkg/apis/apiserver/load/load.go:32',
}

const string = (name: string): FieldSpec => ({ name, type: 'string', omitempty: true })
const TYPES: Readonly<Record<string, TypeSpec>> = {
  'apiserver/v1.AuthorizationConfiguration': {
    fields: [
      { type: 'meta/v1.TypeMeta', inline: true },
      { name: 'authorizers', type: '[]apiserver/v1.AuthorizerConfiguration' },
    ],
  },
  'apiserver/v1.AuthorizerConfiguration': {
    fields: [
      string('type'),
      string('name'),
      { name: 'webhook', type: 'apiserver/v1.WebhookConfiguration', omitempty: true, pointer: true },
    ],
  },
  'apiserver/v1.WebhookConfiguration': {
    fields: [
      ...['authorizedTTL', 'unauthorizedTTL', 'timeout'].map(string),
      ...['cacheAuthorizedRequests', 'cacheUnauthorizedRequests'].map(
        (name): FieldSpec => ({ name, type: 'bool', omitempty: true, pointer: true }),
      ),
      ...['subjectAccessReviewVersion', 'matchConditionSubjectAccessReviewVersion', 'failurePolicy'].map(string),
      { name: 'connectionInfo', type: 'apiserver/v1.WebhookConnectionInfo' },
      { name: 'matchConditions', type: '[]apiserver/v1.WebhookMatchCondition' },
    ],
  },
  'apiserver/v1.WebhookConnectionInfo': { fields: [string('type'), string('kubeConfigFile')] },
  'apiserver/v1.WebhookMatchCondition': { fields: [string('expression')] },
}

const configurationTypes = once(
  (): TypeTable =>
    builtinTypesAnd({
      kinds: Object.fromEntries(SCHEME.kinds.map(kind => [kind, 'apiserver/v1.AuthorizationConfiguration'])),
      types: TYPES,
    }),
)

/** Throws a UsageError. */
export function parseAuthorizationConfiguration(bytes: Buffer): AuthorizerSpec[] {
  const configuration = decoded(bytes)
  const errors: FieldError[] = []
  const authorizers = objectsAt(configuration, 'authorizers')
  if (authorizers.length === 0) {
    errors.push(fieldRequired('authorizers', 'at least one authorization mode must be defined'))
  }
  const seenTypes = new Set<string>()
  const seenNames = new Set<string>()
  const specs: AuthorizerSpec[] = []
  for (const [i, authorizer] of authorizers.entries()) {
    const path = indexPath('authorizers', i)
    const error = checkType(authorizer, path, seenTypes)
    if (error) {
      errors.push(error)
      continue
    }
    const type = stringAt(authorizer, 'type') as AuthorizerType
    const name = stringAt(authorizer, 'name')
    errors.push(...checkName(name, childPath(path, 'name'), seenNames))
    const webhook = objectOrNone(authorizer, 'webhook')
    if (type !== 'Webhook') {
      if (webhook) {
        errors.push(fieldInvalid(childPath(path, 'webhook'), 'non-null', 'may only be specified when type=Webhook'))
      }
      specs.push({ type, name })
    } else if (!webhook) errors.push(fieldRequired(childPath(path, 'webhook'), 'required when type=Webhook'))
    else {
      const read = readWebhook(webhook, path)
      errors.push(...read.errors)
      if (read.webhook) specs.push({ type, name, webhook: read.webhook })
    }
  }
  if (errors.length > 0) throw new UsageError(printFieldErrors(errors))
  checkModeNames(specs)
  return specs
}

function decoded(bytes: Buffer): ValueObject {
  try {
    return bytes.length === 0 ? {} : decodeConfiguration(bytes, SCHEME, configurationTypes())
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`failed to load AuthorizationConfiguration from file: ${error.message}`)
  }
}

function checkType(authorizer: ValueObject, path: string, seen: Set<string>): FieldError | undefined {
  const type = stringAt(authorizer, 'type')
  const at = childPath(path, 'type')
  if (type === '') return fieldRequired(at)
  if (!AUTHORIZER_TYPES.some(each => each === type)) return fieldNotSupported(at, asString(type), AUTHORIZER_TYPES)
  if (seen.has(type) && type !== 'Webhook') return fieldDuplicate(at, type)
  seen.add(type)
  return undefined
}

function checkName(name: string, path: string, seen: Set<string>): FieldError[] {
  if (name === '') return [fieldRequired(path)]
  if (seen.has(name)) return [fieldDuplicate(path, name)]
  seen.add(name)
  const errors = checkDnsSubdomain(name)
  return errors.length === 0 ? [] : [fieldInvalid(path, name, `authorizer name is invalid: ${errors.join(', ')}`)]
}

/** Only webhooks have names of their own. */
function checkModeNames(specs: readonly AuthorizerSpec[]): void {
  const wrong = specs.filter(({ type, name }) => type !== 'Webhook' && name !== type.toLowerCase())
  if (wrong.length === 0) return
  const texts = wrong.map(
    ({ type, name }) => `expected name ${type.toLowerCase()} for authorizer ${type} instead of ${name}`,
  )
  throw new UsageError(texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`)
}

// ---- webhooks

const MAX_TIMEOUT = 30_000
const AUTHORIZED_TTL = '5m'
const UNAUTHORIZED_TTL = '30s'

function readWebhook(
  webhook: ValueObject,
  path: string,
): { readonly errors: readonly FieldError[]; readonly webhook?: AuthorizationWebhook } {
  const errors: FieldError[] = []
  const duration = (name: string, initial: string, max: number): number => {
    const at = childPath(path, name)
    const text = stringAt(webhook, name) || initial
    if (text === '') {
      errors.push(fieldRequired(at))
      return 0
    }
    const parsed = parseDuration(text)
    const ms = parsed.ok ? Number(parsed.value) / 1e6 : 0
    if (!parsed.ok) errors.push(fieldInvalid(at, text, parsed.error))
    else if (ms === 0 && initial === '') errors.push(fieldRequired(at))
    else if (ms < 0 || ms > max) {
      const limits = max === MAX_TIMEOUT ? 'must be > 0s and <= 30s' : 'must be > 0s'
      errors.push(fieldInvalid(at, printDuration(parsed.value), limits))
    }
    return ms
  }
  const oneOf = (name: string, choices: readonly string[]): void => {
    const value = stringAt(webhook, name)
    if (value === '') errors.push(fieldRequired(childPath(path, name)))
    else if (!choices.includes(value)) errors.push(fieldNotSupported(childPath(path, name), asString(value), choices))
  }
  const timeoutMs = duration('timeout', '', MAX_TIMEOUT)
  const authorizedTtlMs = duration('authorizedTTL', AUTHORIZED_TTL, Number.POSITIVE_INFINITY)
  const unauthorizedTtlMs = duration('unauthorizedTTL', UNAUTHORIZED_TTL, Number.POSITIVE_INFINITY)
  oneOf('subjectAccessReviewVersion', ['v1', 'v1beta1'])
  const expressions = objectsAt(webhook, 'matchConditions').map(each => stringAt(each, 'expression'))
  errors.push(...checkConditionVersion(webhook, path, expressions.length))
  oneOf('failurePolicy', ['NoOpinion', 'Deny'])
  const info = objectAt(webhook, 'connectionInfo')
  errors.push(...checkConnection(info, childPath(path, 'connectionInfo')))
  const compiled = compileConditions(expressions, childPath(path, 'matchConditions'))
  errors.push(...compiled.errors)
  if (errors.length > 0) return { errors }
  return {
    errors,
    webhook: {
      target: readTarget(stringAt(info, 'kubeConfigFile')),
      version: stringAt(webhook, 'subjectAccessReviewVersion'),
      timeoutMs,
      authorizedTtlMs: webhook['cacheAuthorizedRequests'] === false ? 0 : authorizedTtlMs,
      unauthorizedTtlMs: webhook['cacheUnauthorizedRequests'] === false ? 0 : unauthorizedTtlMs,
      failurePolicy: stringAt(webhook, 'failurePolicy') as AuthorizationWebhook['failurePolicy'],
      conditions: compiled.conditions,
    },
  }
}

function checkConditionVersion(webhook: ValueObject, path: string, conditions: number): FieldError[] {
  const at = childPath(path, 'matchConditionSubjectAccessReviewVersion')
  const version = stringAt(webhook, 'matchConditionSubjectAccessReviewVersion')
  if (version === '') return conditions > 0 ? [fieldRequired(at, 'required if match conditions are specified')] : []
  return version === 'v1' ? [] : [fieldNotSupported(at, asString(version), ['v1'])]
}

const CONNECTIONS = ['InClusterConfig', 'KubeConfigFile']

function checkConnection(info: ValueObject, path: string): FieldError[] {
  const type = stringAt(info, 'type')
  const file = stringAt(info, 'kubeConfigFile')
  const at = childPath(path, 'kubeConfigFile')
  if (type === '') return [fieldRequired(childPath(path, 'type'))]
  if (!CONNECTIONS.includes(type)) return [fieldNotSupported(childPath(path, 'type'), asStruct(info), CONNECTIONS)]
  if (type === 'InClusterConfig') {
    const why = 'this server does not run inside a cluster; use KubeConfigFile'
    if (has(info, 'kubeConfigFile')) return [fieldInvalid(at, file, 'can only be set when type=KubeConfigFile')]
    return [fieldInvalid(childPath(path, 'type'), type, why)]
  }
  if (file === '') return [fieldRequired(at)]
  if (!isAbsolute(file)) return [fieldInvalid(at, file, 'must be an absolute path')]
  try {
    return statSync(file).isFile() ? [] : [fieldInvalid(at, file, 'must be a regular file')]
  } catch (error) {
    return [fieldInvalid(at, file, `error loading file: ${openError(file, error, 'stat')}`)]
  }
}

/** The webhook that a kubeconfig describes. Throws a UsageError. */
export function readTarget(path: string): () => Promise<ClientConfig> {
  const refuse = (why: string): UsageError =>
    new UsageError(`error loading config file ${JSON.stringify(path)}: ${why}`)
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    throw refuse(openError(path, error))
  }
  try {
    const { value } = decodeYaml(bytes)
    if (!isObject(value)) throw refuse('it is no kubeconfig')
    return kubeconfigTarget(value, path)
  } catch (error) {
    if (error instanceof UsageError) throw error
    if (error instanceof CodecError || error instanceof Error) throw refuse(error.message)
    throw error
  }
}
