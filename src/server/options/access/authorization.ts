// Which authorizers decide what a user may do.

import {
  type AbacPolicy,
  type AuthorizerSpec,
  type AuthorizerType,
  parseAuthorizationConfiguration,
  parsePolicyFile,
  readTarget,
} from '../../../auth/authorizer.js'
import { nearest } from '../../../base/nearest.js'
import { UsageError } from '../../../base/usage-error.js'
import type { FlagTable, FlagValues } from '../flag.js'
import { messageOf, readFlagFile } from '../flag-files.js'
import { choice, duration, list, optionalText } from '../flag-values.js'

export type AuthorizationMode = Exclude<AuthorizerType, 'ABAC' | 'Webhook'>

export interface AuthorizationOptions {
  /** The types of the authorizers, in the order in which they are asked. */
  readonly modes: readonly AuthorizerType[]
  /** The authorizers with their settings, if there are any beside the modes. */
  readonly authorizers?: readonly AuthorizerSpec[] | undefined
  /** The policies of the mode ABAC. */
  readonly policies?: readonly AbacPolicy[] | undefined
  /** The file that `authorizers` are from; it is read again when it changes. */
  readonly configFile?: { readonly path: string; readonly text: string } | undefined
}

const MODES: readonly AuthorizerType[] = ['RBAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'ABAC', 'Webhook']
const LIBRARY_MODES: readonly string[] = ['RBAC', 'AlwaysAllow', 'AlwaysDeny', 'Node'] satisfies AuthorizationMode[]

export const authorizationFlags = {
  'authorization-mode': {
    ...list(
      MODES.join('|'),
      'who may do what: these are asked in turn, and the first that allows or denies a request decides. With ' +
        'AlwaysAllow, anonymous requests are refused',
    ),
    byDefault: 'RBAC',
  },
  'authorization-policy-file': optionalText('<file>', 'the policies of the mode ABAC, one in JSON on each line'),
  'authorization-webhook-config-file': optionalText(
    '<file>',
    'a kubeconfig: the server that the mode Webhook asks, and the user that it is asked as',
  ),
  'authorization-webhook-version': choice(
    ['v1', 'v1beta1'],
    'the version of the reviews that are sent to it',
    'v1beta1',
  ),
  'authorization-webhook-cache-authorized-ttl': duration(
    'how long an answer is kept that allows; 0 keeps none',
    300_000,
  ),
  'authorization-webhook-cache-unauthorized-ttl': duration('how long any other answer is kept; 0 keeps none', 30_000),
  'authorization-config': optionalText(
    '<file>',
    'an AuthorizationConfiguration instead of these flags: authorizers in their order, webhooks with match conditions; ' +
      'it is read again when it changes',
  ),
} satisfies FlagTable

type Flags = FlagValues<typeof authorizationFlags>

/** `given`: the names of the flags on the command line. */
export function authorizationFromFlags(flags: Flags, given: ReadonlySet<string>): AuthorizationOptions {
  const policyFile = flags['authorization-policy-file']
  const path = flags['authorization-config']
  const configFile = path === undefined ? undefined : { path, text: readFlagFile('authorization-config', path) }
  const authorizers = configFile ? fromConfiguration(configFile, given) : fromModes(flags, given)
  const modes = [...new Set(authorizers.map(({ type }) => type))]
  if (modes.includes('ABAC') && policyFile === undefined) {
    throw new UsageError("authorization-mode ABAC's authorization policy file not passed (--authorization-policy-file)")
  }
  if (policyFile !== undefined && !modes.includes('ABAC')) {
    throw new UsageError('cannot specify --authorization-policy-file without mode ABAC')
  }
  return {
    modes,
    authorizers,
    policies: policyFile === undefined ? [] : readPolicies(policyFile),
    configFile,
  }
}

function fromModes(flags: Flags, given: ReadonlySet<string>): AuthorizerSpec[] {
  const names = given.has('authorization-mode') ? flags['authorization-mode'] : ['RBAC']
  const modes = checkModes(names, `--authorization-mode=${names.join(',')}`, MODES) as AuthorizerType[]
  if (new Set(modes).size < modes.length) {
    throw new UsageError(`--authorization-mode=${names.join(',')}: a mode is there more than once`)
  }
  const webhookFile = flags['authorization-webhook-config-file']
  if (webhookFile !== undefined && !modes.includes('Webhook')) {
    throw new UsageError('cannot specify --authorization-webhook-config-file without mode Webhook')
  }
  return modes.map(type => {
    if (type !== 'Webhook') return { type, name: type.toLowerCase() }
    if (webhookFile === undefined) {
      throw new UsageError(
        "authorization-mode Webhook's authorization config file not passed (--authorization-webhook-config-file)",
      )
    }
    return {
      type,
      name: 'default',
      webhook: {
        target: readTarget(webhookFile),
        version: flags['authorization-webhook-version']!,
        timeoutMs: 30_000,
        authorizedTtlMs: flags['authorization-webhook-cache-authorized-ttl'],
        unauthorizedTtlMs: flags['authorization-webhook-cache-unauthorized-ttl'],
        failurePolicy: 'NoOpinion',
        conditions: [],
      },
    }
  })
}

function fromConfiguration(
  { path, text }: NonNullable<AuthorizationOptions['configFile']>,
  given: ReadonlySet<string>,
): AuthorizerSpec[] {
  const others = [...given].filter(name => name === 'authorization-mode' || name.startsWith('authorization-webhook-'))
  if (others.length > 0) {
    throw new UsageError(
      '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined',
    )
  }
  try {
    return parseAuthorizationConfiguration(Buffer.from(text))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`--authorization-config=${path}: ${error.message}`)
  }
}

function readPolicies(path: string): AbacPolicy[] {
  const text = readFlagFile('authorization-policy-file', path)
  try {
    return parsePolicyFile(text, path)
  } catch (error) {
    throw new UsageError(`--authorization-policy-file=${path}: ${messageOf(error)}`)
  }
}

/** `label` names the flag or the option in the message. */
export function checkModes(
  names: readonly string[],
  label: string,
  modes: readonly string[] = LIBRARY_MODES,
): readonly string[] {
  if (names.length === 0) throw new UsageError(`${label}: at least one of ${modes.join(', ')} is needed`)
  for (const name of names) {
    if (modes.includes(name)) continue
    const near = nearest(
      name.toLowerCase(),
      modes.map(each => each.toLowerCase()),
    )
    const meant = modes.find(each => each.toLowerCase() === near)
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    throw new UsageError(`${label}: ${JSON.stringify(name)} is not one of ${modes.join(', ')}${hint}`)
  }
  return names
}

export const allowsEverything = ({ modes }: AuthorizationOptions): boolean => modes.includes('AlwaysAllow')

/** The authorizers, where only their modes are given. */
export const authorizersOf = ({ modes, authorizers }: AuthorizationOptions): readonly AuthorizerSpec[] =>
  authorizers ??
  modes.flatMap((type): AuthorizerSpec[] => (type === 'Webhook' ? [] : [{ type, name: type.toLowerCase() }]))
