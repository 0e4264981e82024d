// The document of --authentication-config: issuers of JSON Web Tokens, and which requests may be anonymous.
import type { Dials } from '../../base/dial.js'
import { once } from '../../base/memo.js'
import { UsageError } from '../../base/usage-error.js'
import {
  asStruct,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  printFieldErrors,
} from '../../meta/errors/field-errors.js'
import { quote } from '../../meta/go/go-text.js'
import { objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { type ConfigurationScheme, decodeConfiguration } from '../../types/configuration-document.js'
import type { FieldSpec, TypeSpec } from '../../types/type.js'
import { builtinTypesAnd, type TypeTable } from '../../types/type-table.js'
import { checkIssuers, type JwtIssuer } from './check-issuers.js'

export interface AuthenticationConfiguration {
  readonly issuers: readonly JwtIssuer[]
  /** Undefined if the document leaves it to --anonymous-auth. */
  readonly anonymous: AnonymousConfiguration | undefined
}

export interface AnonymousConfiguration {
  readonly enabled: boolean
  /** The paths that may be requested without credentials; all if there are none. */
  readonly paths: readonly string[]
}

const GROUP = 'apiserver.config.k8s.io'
const KINDS = ['AuthenticationConfiguration', 'AuthorizationConfiguration']

const SCHEME: ConfigurationScheme = {
  kinds: ['v1', 'v1beta1', 'v1alpha1'].flatMap(version => KINDS.map(kind => `${GROUP}/${version} ${kind}`)),
  scheme: 'pkg/kubeapiserver/options/authentication.go:879',
}

const string = (name: string): FieldSpec => ({ name, type: 'string', omitempty: true })
const optional = (name: string): FieldSpec => ({ name, type: 'string', omitempty: true, pointer: true })
const struct = (name: string, type: string): FieldSpec => ({ name, type: `apiserver/v1.${type}`, omitempty: true })
const list = (name: string, type: string): FieldSpec => ({ name, type: `[]${type}`, omitempty: true })
const structs = (name: string, type: string): FieldSpec => list(name, `apiserver/v1.${type}`)

const TYPES: Readonly<Record<string, TypeSpec>> = {
  'apiserver/v1.AuthenticationConfiguration': {
    fields: [
      { type: 'meta/v1.TypeMeta', inline: true },
      structs('jwt', 'JWTAuthenticator'),
      { ...struct('anonymous', 'AnonymousAuthConfig'), pointer: true },
    ],
  },
  'apiserver/v1.AuthorizationConfiguration': { fields: [{ type: 'meta/v1.TypeMeta', inline: true }] },
  'apiserver/v1.AnonymousAuthConfig': {
    fields: [{ name: 'enabled', type: 'bool' }, structs('conditions', 'AnonymousAuthCondition')],
  },
  'apiserver/v1.AnonymousAuthCondition': { fields: [string('path')] },
  'apiserver/v1.JWTAuthenticator': {
    fields: [
      struct('issuer', 'Issuer'),
      structs('claimValidationRules', 'ClaimValidationRule'),
      struct('claimMappings', 'ClaimMappings'),
      structs('userValidationRules', 'UserValidationRule'),
    ],
  },
  'apiserver/v1.Issuer': {
    fields: [
      string('url'),
      optional('discoveryURL'),
      string('certificateAuthority'),
      list('audiences', 'string'),
      string('audienceMatchPolicy'),
      string('egressSelectorType'),
    ],
  },
  'apiserver/v1.ClaimValidationRule': {
    fields: [string('claim'), string('requiredValue'), string('expression'), string('message')],
  },
  'apiserver/v1.ClaimMappings': {
    fields: [
      struct('username', 'PrefixedClaimOrExpression'),
      struct('groups', 'PrefixedClaimOrExpression'),
      struct('uid', 'ClaimOrExpression'),
      structs('extra', 'ExtraMapping'),
    ],
  },
  'apiserver/v1.PrefixedClaimOrExpression': { fields: [string('claim'), optional('prefix'), string('expression')] },
  'apiserver/v1.ClaimOrExpression': { fields: [string('claim'), string('expression')] },
  'apiserver/v1.ExtraMapping': { fields: [string('key'), string('valueExpression')] },
  'apiserver/v1.UserValidationRule': { fields: [string('expression'), string('message')] },
}

const configurationTypes = once(
  (): TypeTable =>
    builtinTypesAnd({
      kinds: Object.fromEntries(SCHEME.kinds.map(kind => [kind, `apiserver/v1.${kind.split(' ')[1]}`])),
      types: TYPES,
    }),
)

/**
 * `ownIssuers` are those of service accounts, whose tokens no other issuer may have. `before`: the configuration that is
 * to be replaced. `file`: where the document is from, for messages. `egress`: the ways of --egress-selector-config-file, which
 * an issuer may name. Throws a UsageError.
 */
export function parseAuthenticationConfiguration(
  bytes: Buffer,
  ownIssuers: readonly string[],
  { before, file = '', egress }: ParseOptions = {},
): AuthenticationConfiguration {
  const document = decoded(bytes, file)
  const { issuers, errors } = checkIssuers(objectsAt(document, 'jwt'))
  const anonymous = anonymousOf(objectOrNone(document, 'anonymous'))
  errors.push(...checkAnonymous(anonymous))
  if (before && !isSameAnonymous(before.anonymous, anonymous)) {
    errors.push(fieldForbidden('anonymous', 'changed from initial configuration file'))
  }
  throwIfAny(errors)
  checkUsable(issuers, ownIssuers, egress)
  return { issuers, anonymous }
}

interface ParseOptions {
  readonly before?: AuthenticationConfiguration
  readonly file?: string
  readonly egress?: Dials | undefined
}

/** The issuer that flags describe, in the form of a configuration. Throws a UsageError. */
export function issuerFromFlags(jwt: ValueObject): JwtIssuer {
  const { issuers, errors } = checkIssuers([jwt])
  throwIfAny(errors)
  return issuers[0]!
}

function decoded(bytes: Buffer, file: string): ValueObject {
  try {
    if (bytes.length === 0) throw new UsageError('empty config data')
    const document = decodeConfiguration(bytes, SCHEME, configurationTypes())
    const kind = stringAt(document, 'kind')
    if (kind === KINDS[0]) return document
    throw new UsageError(`expected AuthenticationConfiguration, got *apiserver.${kind}`)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`failed to load authentication configuration from file ${quote(file)}: ${error.message}`)
  }
}

function throwIfAny(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new UsageError(`invalid authentication configuration: ${printFieldErrors(errors)}`)
}

function anonymousOf(anonymous: ValueObject | undefined): AnonymousConfiguration | undefined {
  if (!anonymous) return undefined
  const paths = objectsAt(anonymous, 'conditions').map(each => stringAt(each, 'path'))
  return { enabled: anonymous['enabled'] === true, paths }
}

function checkAnonymous(anonymous: AnonymousConfiguration | undefined): FieldError[] {
  if (!anonymous || anonymous.enabled || anonymous.paths.length === 0) return []
  const conditions = asStruct(anonymous.paths.map(path => ({ Path: path })))
  return [fieldInvalid('anonymous.conditions', conditions, 'enabled should be set to true when conditions are defined')]
}

const isSameAnonymous = (a: AnonymousConfiguration | undefined, b: AnonymousConfiguration | undefined): boolean =>
  a?.enabled === b?.enabled && equalValues([...(a?.paths ?? [])], [...(b?.paths ?? [])])

/** Tokens of service accounts have no other issuer, and a named way to an issuer is configured. Throws a UsageError. */
export function checkUsable(issuers: readonly JwtIssuer[], ownIssuers: readonly string[], egress?: Dials): void {
  for (const { url, egressSelectorType } of issuers) {
    if (ownIssuers.includes(url)) {
      const why = `URL must not overlap with disallowed issuers: [${ownIssuers.toSorted().join(' ')}]`
      throw new UsageError(printFieldErrors([fieldInvalid('issuer.url', url, why)]))
    }
    if (egressSelectorType !== '' && !egress) {
      throw new UsageError(`oidc: egress lookup required with egress selector type ${quote(egressSelectorType)}`)
    }
  }
}
