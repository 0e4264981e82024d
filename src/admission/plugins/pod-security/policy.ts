// The policy in the labels of a namespace: for each of three modes a level of the Pod Security Standards and a version of
// the standards.
import { type FieldError, fieldInvalid, keyPath } from '../../../meta/errors/field-errors.js'
import type { Labels } from '../../../meta/selectors/label-selectors.js'

export type Level = 'privileged' | 'baseline' | 'restricted'

export interface LevelVersion {
  readonly level: Level
  /** Of `v1.MINOR`; infinite for the latest. */
  readonly minor: number
}

/** `enforce` refuses pods, `warn` gives warnings, `audit` is for the audit log. */
export interface Policy {
  readonly enforce: LevelVersion
  readonly audit: LevelVersion
  readonly warn: LevelVersion
}

/** In the order in which their errors are reported. */
export const MODES: readonly (keyof Policy)[] = ['enforce', 'audit', 'warn']

export const printVersion = (minor: number): string => (minor === LATEST ? 'latest' : `v1.${minor}`)

export const printLevelVersion = ({ level, minor }: LevelVersion): string => `${level}:${printVersion(minor)}`

const LATEST = Number.POSITIVE_INFINITY
/** From the most lenient to the strictest. */
const LEVELS: readonly string[] = ['privileged', 'baseline', 'restricted']
const PREFIX = 'pod-security.kubernetes.io/'

const LENIENT: LevelVersion = { level: 'privileged', minor: LATEST }
/** The policy that allows everything. */
export const PRIVILEGED: Policy = { enforce: LENIENT, audit: LENIENT, warn: LENIENT }

export const isStricter = (a: Level, b: Level): boolean => LEVELS.indexOf(a) > LEVELS.indexOf(b)

export const isPrivileged = (policy: Policy): boolean => MODES.every(mode => policy[mode].level === 'privileged')

/** Whether two policies allow the same. */
export const isEquivalent = (a: Policy, b: Policy): boolean =>
  MODES.every(
    mode => a[mode].level === b[mode].level && (a[mode].level === 'privileged' || a[mode].minor === b[mode].minor),
  )

/** Whether the labels set the level or the version of a mode. */
export const hasMode = (labels: Labels, mode: keyof Policy): boolean =>
  Object.hasOwn(labels, `${PREFIX}${mode}`) || Object.hasOwn(labels, `${PREFIX}${mode}-version`)

/**
 * The policy of a namespace: `defaults`, unless its labels say otherwise. Of invalid labels, `enforce` is read as the
 * strictest level, the other modes as the most lenient.
 */
export function policyOf(
  labels: Labels,
  defaults: Policy,
): { readonly policy: Policy; readonly errors: readonly FieldError[] } {
  const errors: FieldError[] = []
  /** What a label says; undefined if it is absent or wrong. */
  const read = <T>(label: string, parse: (text: string) => T | string): T | undefined => {
    if (!Object.hasOwn(labels, label)) return undefined
    const parsed = parse(labels[label]!)
    if (typeof parsed !== 'string') return parsed
    errors.push(fieldInvalid(keyPath('metadata.labels', label), labels[label], parsed))
    return undefined
  }
  const modeOf = (mode: keyof Policy): LevelVersion => {
    const label = `${PREFIX}${mode}`
    const wrong = mode === 'enforce' ? 'restricted' : 'privileged'
    const level = read(label, parseLevel)?.level ?? (Object.hasOwn(labels, label) ? wrong : defaults[mode].level)
    const version = `${label}-version`
    const minor = read(version, parseVersion)?.minor
    return { level, minor: minor ?? (Object.hasOwn(labels, version) ? LATEST : defaults[mode].minor) }
  }
  const policy = { enforce: modeOf('enforce'), audit: modeOf('audit'), warn: modeOf('warn') }
  return { policy: withWarnings(labels, policy), errors }
}

/** A namespace that enforces a stricter level than it warns of, and does not set the latter, warns of the former. */
function withWarnings(labels: Labels, policy: Policy): Policy {
  const { enforce, warn } = policy
  const isValid = LEVELS.includes(labels[`${PREFIX}enforce`] ?? '')
  if (!isValid || Object.hasOwn(labels, `${PREFIX}warn`) || !isStricter(enforce.level, warn.level)) return policy
  const minor = Object.hasOwn(labels, `${PREFIX}warn-version`) ? warn.minor : enforce.minor
  return { ...policy, warn: { level: enforce.level, minor } }
}

/** The level, or why it is none. */
export const parseLevel = (text: string): Pick<LevelVersion, 'level'> | string =>
  LEVELS.includes(text) ? { level: text as Level } : `must be one of ${LEVELS.join(', ')}`

export function parseVersion(text: string): Pick<LevelVersion, 'minor'> | string {
  if (text === 'latest') return { minor: LATEST }
  const minor = /^v1\.(0|[1-9][0-9]{0,8})$/.exec(text)?.[1]
  return minor === undefined ? 'must be "latest" or "v1.x"' : { minor: Number(minor) }
}
