// Issuers whose tokens are accepted: by the flags --oidc-*, or by the document of --authentication-config.
import {
  type AuthenticationConfiguration,
  checkUsable,
  issuerFromFlags,
  JWS_ALGORITHMS,
  parseAuthenticationConfiguration,
} from '../../../auth/openid-connect.js'
import { DEFAULT_ISSUER } from '../../../auth/tokens.js'
import type { Dials } from '../../../base/dial.js'
import { UsageError } from '../../../base/usage-error.js'
import { quote } from '../../../meta/go/go-text.js'
import type { FlagTable, FlagValues } from '../flag.js'
import { readFlagFile, readOptionalFile } from '../flag-files.js'
import { list, optionalText, repeatedText, text } from '../flag-values.js'

export interface OpenIdConnectOptions {
  readonly configuration: AuthenticationConfiguration
  /** The algorithms by which tokens may be signed. */
  readonly algorithms: readonly string[]
  /** The file of the configuration, which is read again when it changes, and its text at the start. */
  readonly file?: { readonly path: string; readonly text: string } | undefined
}

export const openIdConnectFlags = {
  'oidc-issuer-url': optionalText('<url>', 'the issuer of OpenID Connect whose tokens are accepted; https only'),
  'oidc-client-id': optionalText('<name>', 'the audience that its tokens must have'),
  'oidc-ca-file': optionalText('<file>', "authorities of the issuer's certificate, in PEM form"),
  'oidc-username-claim': text('<claim>', 'the claim that is the name of the user', 'sub'),
  'oidc-username-prefix': optionalText(
    '<prefix>',
    'goes before the names of its users; without it the URL of the issuer and a # do, unless the claim is email; - is none',
  ),
  'oidc-groups-claim': optionalText('<claim>', 'the claim that has the groups of the user'),
  'oidc-groups-prefix': optionalText('<prefix>', 'goes before the names of its groups'),
  'oidc-signing-algs': list('<names>', `algorithms by which tokens are signed, of ${JWS_ALGORITHMS.join(', ')}`, [
    'RS256',
  ]),
  'oidc-required-claim': repeatedText(
    '<claim=value>',
    'a claim that tokens must have with this value; may be repeated',
  ),
  'authentication-config': optionalText(
    '<file>',
    'an AuthenticationConfiguration: issuers with rules and mappings in CEL, and paths for anonymous requests; it is read ' +
      'again when it changes',
  ),
} satisfies FlagTable

type Flags = FlagValues<typeof openIdConnectFlags>

/** `given`: the names of the flags on the command line. `serviceAccountIssuers`: those of our own tokens. `egress`: ways to issuers. */
export function openIdConnectFromFlags(
  flags: Flags,
  given: ReadonlySet<string>,
  serviceAccountIssuers: readonly string[],
  egress: Dials | undefined,
): OpenIdConnectOptions | undefined {
  const own = serviceAccountIssuers.length === 0 ? [DEFAULT_ISSUER] : serviceAccountIssuers
  const path = flags['authentication-config']
  const hasFlags = [...given].some(name => name.startsWith('oidc-'))
  if (path !== undefined) {
    if (hasFlags) throw new UsageError('authentication-config file and oidc-* flags are mutually exclusive')
    return fromFile(path, given, own, egress)
  }
  if (!hasFlags) return undefined
  const issuer = issuerOf(flags)
  const unknown = flags['oidc-signing-algs'].find(name => !JWS_ALGORITHMS.some(each => each === name))
  if (unknown !== undefined) throw new UsageError(`oidc: unsupported signing alg: ${quote(unknown)}`)
  checkUsable([issuer], own)
  return {
    configuration: { issuers: [issuer], anonymous: undefined },
    algorithms: flags['oidc-signing-algs'],
  }
}

function fromFile(
  path: string,
  given: ReadonlySet<string>,
  own: readonly string[],
  egress: Dials | undefined,
): OpenIdConnectOptions {
  const written = readFlagFile('authentication-config', path)
  const configuration = parseAuthenticationConfiguration(Buffer.from(written), own, { file: path, egress })
  if (configuration.anonymous && given.has('anonymous-auth')) {
    throw new UsageError(
      'anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file',
    )
  }
  return { configuration, algorithms: JWS_ALGORITHMS, file: { path, text: written } }
}

function issuerOf(flags: Flags) {
  const [url, clientId] = [flags['oidc-issuer-url'], flags['oidc-client-id']]
  if (url === undefined || clientId === undefined) {
    throw new UsageError('oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set')
  }
  const claim = flags['oidc-username-claim']
  const given = flags['oidc-username-prefix']
  const prefix = given === '-' ? '' : (given ?? (claim === 'email' ? '' : `${url}#`))
  const groups = flags['oidc-groups-claim']
  return issuerFromFlags({
    issuer: {
      url,
      audiences: [clientId],
      certificateAuthority: readOptionalFile('oidc-ca-file', flags['oidc-ca-file']) ?? '',
    },
    claimMappings: {
      username: { claim, prefix },
      ...(groups !== undefined && { groups: { claim: groups, prefix: flags['oidc-groups-prefix'] ?? '' } }),
    },
    claimValidationRules: flags['oidc-required-claim'].map(requiredClaim),
  })
}

function requiredClaim(pair: string): { claim: string; requiredValue: string } {
  const equals = pair.indexOf('=')
  if (equals < 0) {
    throw new UsageError(`--oidc-required-claim=${pair}: malformed pair, expect string=string`)
  }
  return { claim: pair.slice(0, equals).trim(), requiredValue: pair.slice(equals + 1).trim() }
}
