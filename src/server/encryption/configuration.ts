// The file of --encryption-provider-config: which resources are encrypted, by which providers in which order.
import { once } from '../../base/memo.js'
import { UsageError } from '../../base/usage-error.js'
import {
  childPath,
  type FieldError,
  fieldInvalid,
  fieldRequired,
  indexPath,
  printFieldErrors,
} from '../../meta/errors/field-errors.js'
import { numberOrNone, objectOrNone, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { parseDuration } from '../../meta/values/time.js'
import type { ValueObject } from '../../meta/values/value.js'
import { type ConfigurationScheme, decodeConfiguration } from '../../types/configuration-document.js'
import type { FieldSpec, TypeSpec } from '../../types/type.js'
import { builtinTypesAnd, type TypeTable } from '../../types/type-table.js'
import { checkResources } from './resource-lists.js'

export interface EncryptedResources {
  /** `secrets`, `deployments.apps`, `*.apps`, `*.` or `*.*`. */
  readonly resources: readonly string[]
  readonly providers: readonly Provider[]
}

export type Provider =
  | { readonly type: 'identity' }
  | { readonly type: 'aesgcm' | 'aescbc' | 'secretbox'; readonly keys: readonly ProviderKey[] }
  | { readonly type: 'kms'; readonly name: string; readonly endpoint: string; readonly timeoutMs: number }

export interface ProviderKey {
  readonly name: string
  readonly secret: Buffer
}

const SCHEME: ConfigurationScheme = {
  kinds: ['apiserver.config.k8s.io/v1 EncryptionConfiguration'],
  scheme: 'pkg/runtime/scheme.go:110',
}

const string = (name: string): FieldSpec => ({ name, type: 'string', omitempty: true })
const providerField = (name: string, type: string): FieldSpec => ({ name, type, omitempty: true, pointer: true })
const TYPES: Readonly<Record<string, TypeSpec>> = {
  'apiserver/v1.EncryptionConfiguration': {
    fields: [
      { type: 'meta/v1.TypeMeta', inline: true },
      { name: 'resources', type: '[]apiserver/v1.ResourceConfiguration' },
    ],
  },
  'apiserver/v1.ResourceConfiguration': {
    fields: [
      { name: 'resources', type: '[]string' },
      { name: 'providers', type: '[]apiserver/v1.ProviderConfiguration' },
    ],
  },
  'apiserver/v1.ProviderConfiguration': {
    fields: [
      providerField('aesgcm', 'apiserver/v1.KeysConfiguration'),
      providerField('aescbc', 'apiserver/v1.KeysConfiguration'),
      providerField('secretbox', 'apiserver/v1.KeysConfiguration'),
      providerField('identity', 'apiserver/v1.IdentityConfiguration'),
      providerField('kms', 'apiserver/v1.KMSConfiguration'),
    ],
  },
  'apiserver/v1.KeysConfiguration': { fields: [{ name: 'keys', type: '[]apiserver/v1.Key' }] },
  'apiserver/v1.Key': { fields: [string('name'), string('secret')] },
  'apiserver/v1.IdentityConfiguration': { fields: [] },
  'apiserver/v1.KMSConfiguration': {
    fields: [
      ...['apiVersion', 'name', 'endpoint', 'timeout'].map(string),
      { name: 'cachesize', type: 'int32', omitempty: true, pointer: true },
    ],
  },
}

const configurationTypes = once(
  (): TypeTable =>
    builtinTypesAnd({ kinds: { [SCHEME.kinds[0]!]: 'apiserver/v1.EncryptionConfiguration' }, types: TYPES }),
)

const MORE_THAN_ONE = 'more than one provider specified in a single element, should split into different list elements'
const NO_PROVIDER = 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity'
const KMS_V1 = 'KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.'
const PROVIDERS = ['kms', 'aesgcm', 'aescbc', 'secretbox', 'identity'] as const
const KEY_BYTES = { aesgcm: [16, 24, 32], aescbc: [16, 24, 32], secretbox: [32] } as const
const DEFAULT_TIMEOUT_MS = 3_000

/** Throws a UsageError, which never shows a key. */
export function parseEncryptionConfiguration(bytes: Buffer): EncryptedResources[] {
  if (bytes.length === 0) throw new UsageError('the file is empty')
  const configuration = decoded(bytes)
  const errors: FieldError[] = []
  const all = objectsAt(configuration, 'resources')
  if (all.length === 0) errors.push(fieldRequired('resources', 'at least one resources is required'))
  const kmsNames = new Set<string>()
  const parsed = all.map((each, i): EncryptedResources => {
    const path = indexPath('resources', i)
    const resources = stringsAt(each, 'resources')
    errors.push(...checkResources(resources, childPath(path, 'resources')))
    const providers = childPath(path, 'providers')
    const given = objectsAt(each, 'providers')
    if (given.length === 0) errors.push(fieldRequired(providers, `at least one ${providers} is required`))
    return {
      resources,
      providers: given.flatMap((value, j) => readProvider(value, indexPath(providers, j), kmsNames, errors)),
    }
  })
  if (errors.length > 0) throw new UsageError(printFieldErrors(errors))
  if (all.some(each => objectsAt(each, 'providers').some(isKmsV1))) throw new UsageError(KMS_V1)
  checkMasks(parsed)
  return parsed
}

/** A message about the document may quote all of it. */
function decoded(bytes: Buffer): ValueObject {
  try {
    return decodeConfiguration(bytes, SCHEME, configurationTypes())
  } catch (error) {
    const isQuote = error instanceof UsageError && /^Object '(Kind|apiVersion)' is missing/.exec(error.message)
    throw isQuote ? new UsageError(isQuote[0]) : error
  }
}

const isKmsV1 = (provider: ValueObject): boolean => {
  const kms = objectOrNone(provider, 'kms')
  return kms !== undefined && (stringAt(kms, 'apiVersion') || 'v1') === 'v1'
}

function readProvider(value: ValueObject, path: string, kmsNames: Set<string>, errors: FieldError[]): Provider[] {
  const types = PROVIDERS.filter(type => objectOrNone(value, type) !== undefined)
  const [type] = types
  if (type === undefined || types.length > 1) {
    // The value may hold keys, so that it is not shown.
    errors.push(fieldInvalid(path, 'REDACTED', type === undefined ? NO_PROVIDER : MORE_THAN_ONE))
    return []
  }
  if (type === 'identity') return [{ type }]
  const settings = objectOrNone(value, type)!
  if (type === 'kms') return [readKms(settings, childPath(path, 'kms'), kmsNames, errors)]
  return [{ type, keys: readKeys(settings, childPath(childPath(path, type), 'keys'), KEY_BYTES[type], errors) }]
}

function readKeys(
  settings: ValueObject,
  path: string,
  lengths: readonly number[],
  errors: FieldError[],
): readonly ProviderKey[] {
  const keys = objectsAt(settings, 'keys')
  if (keys.length === 0) errors.push(fieldRequired(path, 'at least one keys is required'))
  return keys.map((key, i) => {
    const at = indexPath(path, i)
    const [name, text] = [stringAt(key, 'name'), stringAt(key, 'secret')]
    const refuse = (why: string) => errors.push(fieldInvalid(childPath(at, 'secret'), 'REDACTED', why))
    if (name === '') errors.push(fieldRequired(childPath(at, 'name'), 'name is a mandatory field for a key'))
    const secret = decodeBase64(text)
    if (text === '') errors.push(fieldRequired(childPath(at, 'secret'), 'secret is a mandatory field for a key'))
    else if (!secret) refuse('secrets must be base64 encoded')
    else if (!lengths.includes(secret.length)) {
      refuse(`secret is not of the expected length, got ${secret.length}, expected one of [${lengths.join(' ')}]`)
    }
    return { name, secret: secret ?? Buffer.alloc(0) }
  })
}

/** Strictly, with padding; line ends are skipped, as by Go. */
function decodeBase64(text: string): Buffer | undefined {
  const one = text.replaceAll(/[\r\n]/g, '')
  const isBase64 = one.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(one)
  return isBase64 ? Buffer.from(one, 'base64') : undefined
}

function readKms(settings: ValueObject, path: string, names: Set<string>, errors: FieldError[]): Provider {
  const name = stringAt(settings, 'name')
  const apiVersion = stringAt(settings, 'apiVersion') || 'v1'
  const endpoint = stringAt(settings, 'endpoint')
  const timeout = stringAt(settings, 'timeout')
  const cacheSize = numberOrNone(settings, 'cachesize')
  const refuse = (field: string, value: string | number, why: string) =>
    errors.push(fieldInvalid(childPath(path, field), value, why))
  if (name === '') errors.push(fieldRequired(childPath(path, 'name'), 'name is a mandatory field for a provider'))
  if (name.includes(':')) refuse('name', name, `invalid KMS provider name ${name}, must not contain ':'`)
  if (names.has(name)) refuse('name', name, `duplicate KMS provider name ${name}, names must be unique`)
  names.add(name)
  const parsed = parseDuration(timeout)
  const timeoutMs = timeout === '' ? DEFAULT_TIMEOUT_MS : parsed.ok ? Number(parsed.value) / 1e6 : 0
  if (timeoutMs <= 0) refuse('timeout', timeout, 'timeout should be a positive value')
  checkEndpoint(endpoint, refuse)
  if (apiVersion !== 'v1' && cacheSize !== undefined) refuse('cachesize', cacheSize, 'cachesize is not supported in v2')
  if (apiVersion !== 'v1' && apiVersion !== 'v2') {
    refuse('apiVersion', apiVersion, 'unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported')
  }
  return { type: 'kms', name, endpoint, timeoutMs }
}

function checkEndpoint(endpoint: string, refuse: (field: string, value: string, why: string) => void): void {
  if (endpoint === '') return refuse('endpoint', '', 'endpoint is a mandatory field for a kms')
  const scheme = /^([a-zA-Z][-+.a-zA-Z0-9]*):/.exec(endpoint)?.[1]?.toLowerCase() ?? ''
  if (scheme !== 'unix' || !URL.canParse(endpoint)) {
    const why = `unsupported scheme ${JSON.stringify(scheme)} for KMS provider, only unix is supported`
    return refuse('endpoint', endpoint, why)
  }
  if (new URL(endpoint).pathname.startsWith('/@')) {
    refuse('endpoint', endpoint, 'sockets without a file are not supported here, use the path of one with a file')
  }
}

/** A rule for a whole group that comes first leaves nothing to later rules. */
function checkMasks(all: readonly EncryptedResources[]): void {
  const seen = new Set<string>()
  for (const { resources } of all) {
    for (const resource of resources) {
      const dot = resource.indexOf('.')
      const group = dot === -1 ? '' : resource.slice(dot + 1)
      const masking = [`*.${group}`, '*.*'].find(rule => seen.has(rule))
      if (masking !== undefined) {
        throw new UsageError(
          `error while building transformers: resource ${JSON.stringify(resource)} is masked by earlier rule ${JSON.stringify(masking)}`,
        )
      }
    }
    for (const resource of resources) seen.add(resource)
  }
}
