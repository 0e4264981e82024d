// How the server finds out which user sent a request.
import { type Identity, parseTokenFile } from '../../../auth/authenticator.js'
import { readTarget } from '../../../auth/authorizer.js'
import { parseKeys, type TokenKey } from '../../../auth/tokens.js'
import type { Dials } from '../../../base/dial.js'
import { UsageError } from '../../../base/usage-error.js'
import type { ClientConfig } from '../../../webhook/client-config.js'
import type { FlagTable, FlagValues } from '../flag.js'
import { messageOf, readCertificates, readFlagFile, readOptionalFile } from '../flag-files.js'
import { choice, duration, list, optionalText, repeatedText, toggle } from '../flag-values.js'
import { type OpenIdConnectOptions, openIdConnectFlags, openIdConnectFromFlags } from './openid-connect.js'

export interface AuthenticationOptions {
  /** Users by static bearer token. */
  readonly tokens: ReadonlyMap<string, Identity>
  /** Whether tokens in Secrets of kube-system are accepted, by which new nodes introduce themselves. */
  readonly bootstrapTokens?: boolean | undefined
  /** Whether a request without credentials is served, as system:anonymous. */
  readonly anonymous: boolean
  /** PEM: the authorities whose client certificates are accepted, in the place of our own. */
  readonly clientCa?: string | undefined
  /** The file of `clientCa`, which is read again when it changes. */
  readonly clientCaFile?: string | undefined
  readonly serviceAccounts: ServiceAccountOptions
  /** A proxy that authenticates users itself and names them in headers. */
  readonly requestHeader?: RequestHeaderOptions | undefined
  /** A webhook that is asked about bearer tokens. */
  readonly tokenWebhook?: TokenWebhookOptions | undefined
  /** Other issuers whose tokens are accepted. */
  readonly openIdConnect?: OpenIdConnectOptions | undefined
}

export interface TokenWebhookOptions {
  readonly target: () => Promise<ClientConfig>
  /** Of the TokenReview. */
  readonly version: string
  /** How long an answer is kept. */
  readonly ttlMs: number
}

export interface ServiceAccountOptions {
  /** The issuer of new tokens, followed by further issuers whose tokens are accepted. Empty: the default issuer. */
  readonly issuers: readonly string[]
  /** The audiences of this server. Empty: its issuers. */
  readonly audiences: readonly string[]
  /** The key that signs new tokens; one from the store when absent. */
  readonly signingKey?: TokenKey | undefined
  /** The socket of a process that signs tokens in the place of `signingKey`. */
  readonly signingEndpoint?: string | undefined
  /** Further keys whose tokens are accepted. */
  readonly verificationKeys: readonly TokenKey[]
  /** The longest time for which a token is issued. */
  readonly maxTokenSeconds?: number | undefined
  readonly extendsExpiration?: boolean | undefined
  /** The URL of the public keys in the issuer's discovery document; one of this server when absent. */
  readonly jwksUri?: string | undefined
}

export const DEFAULT_SERVICE_ACCOUNTS: ServiceAccountOptions = { issuers: [], audiences: [], verificationKeys: [] }

export interface RequestHeaderOptions {
  /** PEM: the authorities that sign the proxy's client certificate. */
  readonly ca: string
  /** The file of `ca`, which is read again when it changes. */
  readonly caFile?: string | undefined
  /** Common names of client certificates that may act as a proxy; any that `ca` signed when empty. */
  readonly allowedNames: readonly string[]
  /** Names of headers in lower case; the first that is there counts. */
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraPrefixes: readonly string[]
}

export const authenticationFlags = {
  'client-ca-file': optionalText(
    '<file>',
    'authorities whose client certificates are accepted, in the place of our own',
  ),
  'token-auth-file': optionalText('<file>', 'static tokens, a line each: token,user,uid,"group1,group2"'),
  'enable-bootstrap-token-auth': toggle(
    'accept bootstrap tokens: Secrets of the type bootstrap.kubernetes.io/token in kube-system',
    false,
  ),
  'anonymous-auth': toggle('serve requests without credentials, as system:anonymous', true),
  ...openIdConnectFlags,
  'service-account-issuer': repeatedText(
    '<url>',
    'the issuer of service account tokens; when repeated, tokens of the further issuers are accepted too',
  ),
  'service-account-signing-key-file': {
    ...optionalText('<file>', 'the private key that signs service account tokens, RSA or ECDSA, in PEM form'),
    byDefault: 'a key in the store',
  },
  'service-account-signing-endpoint': optionalText(
    '<socket>',
    'the Unix socket of a process that signs service account tokens (k8s.io/externaljwt v1), in the place of a key',
  ),
  'service-account-key-file': repeatedText(
    '<file>',
    'keys or certificates by which service account tokens are verified, in PEM form; may be repeated',
  ),
  'service-account-max-token-expiration': duration(
    'the longest validity of a service account token; 0 sets no limit',
    0,
  ),
  'service-account-extend-token-expiration': toggle(
    'let the tokens of pods that are renewed each hour stay valid for a year, since programs may not read them again',
    true,
  ),
  'service-account-jwks-uri': optionalText('<url>', 'the URL of the public keys in the discovery document'),
  'api-audiences': list('<names>', 'the audiences of this server in service account tokens'),
  'authentication-token-webhook-config-file': optionalText(
    '<file>',
    'a kubeconfig: the server that is asked about bearer tokens, and the user that it is asked as',
  ),
  'authentication-token-webhook-version': choice(
    ['v1', 'v1beta1'],
    'the version of the reviews that are sent to it',
    'v1beta1',
  ),
  'authentication-token-webhook-cache-ttl': duration('how long its answers are kept; 0 keeps none', 120_000),
  'requestheader-client-ca-file': optionalText(
    '<file>',
    'authorities that sign the client certificate of an authenticating proxy',
  ),
  'requestheader-allowed-names': list('<names>', 'common names of the proxy; any when none is given'),
  'requestheader-username-headers': list('<headers>', 'headers in which the proxy names the user'),
  'requestheader-uid-headers': list('<headers>', 'headers in which the proxy gives the uid'),
  'requestheader-group-headers': list('<headers>', 'headers in which the proxy names the groups'),
  'requestheader-extra-headers-prefix': list('<prefixes>', 'prefixes of headers in which the proxy gives extra fields'),
} satisfies FlagTable

type Flags = FlagValues<typeof authenticationFlags>

/** `given`: the names of the flags on the command line. `egress`: the ways of --egress-selector-config-file. */
export const authenticationFromFlags = (
  flags: Flags,
  given: ReadonlySet<string>,
  egress: Dials | undefined,
): AuthenticationOptions & { tokens: Map<string, Identity> } => ({
  tokens: tokensFromFile(flags['token-auth-file']),
  bootstrapTokens: flags['enable-bootstrap-token-auth'],
  tokenWebhook: tokenWebhookOf(flags),
  anonymous: flags['anonymous-auth'],
  clientCa: readCertificates('client-ca-file', flags['client-ca-file']),
  clientCaFile: flags['client-ca-file'],
  serviceAccounts: serviceAccountsFromFlags(flags),
  requestHeader: requestHeaderFromFlags(flags),
  openIdConnect: openIdConnectFromFlags(flags, given, flags['service-account-issuer'], egress),
})

function tokensFromFile(path: string | undefined): Map<string, Identity> {
  const text = readOptionalFile('token-auth-file', path)
  if (text === undefined) return new Map()
  try {
    return parseTokenFile(text)
  } catch (error) {
    throw new UsageError(`--token-auth-file=${path}: ${messageOf(error)}`)
  }
}

function serviceAccountsFromFlags(flags: Flags): ServiceAccountOptions {
  const issuers = flags['service-account-issuer']
  if (issuers.includes('')) throw new UsageError('service-account-issuer should not be an empty string')
  const seconds = Math.floor(flags['service-account-max-token-expiration'] / 1000)
  if (seconds !== 0 && (seconds < 3600 || seconds > 2 ** 32)) {
    throw new UsageError('the service-account-max-token-expiration must be between 1 hour and 2^32 seconds')
  }
  const signing = flags['service-account-signing-key-file']
  const endpoint = flags['service-account-signing-endpoint']
  if (endpoint !== undefined) checkEndpoint(endpoint, flags)
  return {
    issuers,
    audiences: flags['api-audiences'],
    signingKey: signing === undefined ? undefined : signingKeyFrom(signing),
    signingEndpoint: endpoint,
    verificationKeys: flags['service-account-key-file'].flatMap(path => keysFrom('service-account-key-file', path)),
    maxTokenSeconds: seconds === 0 ? undefined : seconds,
    extendsExpiration: flags['service-account-extend-token-expiration'],
    jwksUri: flags['service-account-jwks-uri'],
  }
}

function checkEndpoint(endpoint: string, flags: Flags): void {
  if (flags['service-account-signing-key-file'] !== undefined || flags['service-account-key-file'].length > 0) {
    throw new UsageError(
      "can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--service-account-signing-endpoint` (They are mutually exclusive)",
    )
  }
  if (endpoint.startsWith('@')) {
    throw new UsageError(
      `--service-account-signing-endpoint=${endpoint}: Node.js cannot reach a socket without a file; let the signer listen on a path`,
    )
  }
}

function signingKeyFrom(path: string): TokenKey {
  const key = keysFrom('service-account-signing-key-file', path).find(({ privateKey }) => privateKey !== undefined)
  if (!key) throw new UsageError(`--service-account-signing-key-file=${path}: the file contains no private key`)
  return key
}

function keysFrom(flag: string, path: string): TokenKey[] {
  try {
    const keys = parseKeys(readFlagFile(flag, path))
    if (keys.length > 0) return keys
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`--${flag}=${path}: ${messageOf(error)}`)
  }
  throw new UsageError(`--${flag}=${path}: the file contains no RSA or ECDSA key and no certificate in PEM form`)
}

function requestHeaderFromFlags(flags: Flags): RequestHeaderOptions | undefined {
  const ca = readCertificates('requestheader-client-ca-file', flags['requestheader-client-ca-file'])
  const usernameHeaders = lowerCase(flags['requestheader-username-headers'])
  if (ca === undefined) {
    if (usernameHeaders.length === 0) return undefined
    throw new UsageError('--requestheader-username-headers needs --requestheader-client-ca-file')
  }
  // Without headers that name a user, as with kube-apiserver, the authority alone changes nothing.
  if (usernameHeaders.length === 0) return undefined
  return {
    ca,
    caFile: flags['requestheader-client-ca-file'],
    allowedNames: flags['requestheader-allowed-names'],
    usernameHeaders,
    uidHeaders: lowerCase(flags['requestheader-uid-headers']),
    groupHeaders: lowerCase(flags['requestheader-group-headers']),
    extraPrefixes: lowerCase(flags['requestheader-extra-headers-prefix']),
  }
}

function tokenWebhookOf(flags: Flags): TokenWebhookOptions | undefined {
  const file = flags['authentication-token-webhook-config-file']
  if (file === undefined) return undefined
  return {
    target: readTarget(file),
    version: flags['authentication-token-webhook-version']!,
    ttlMs: flags['authentication-token-webhook-cache-ttl'],
  }
}

const lowerCase = (names: readonly string[]): string[] => names.map(name => name.toLowerCase())
