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

export const printLevelVersion = ({ level, minor }: LevelVersion): string =>
  `${level}:${minor === LATEST ? 'latest' : `v1.${minor}`}`

const LATEST = Number.POSITIVE_INFINITY
/** From the most lenient to the strictest. */
const LEVELS: readonly string[] = ['privileged', 'baseline', 'restricted']
const PREFIX = 'pod-security.kubernetes.io/'

export const isStricter = (a: Level, b: Level): boolean => LEVELS.indexOf(a) > LEVELS.indexOf(b)

/** The policy. Of invalid labels, `enforce` is read as the strictest level, the other modes as the most lenient. */
export function policyOf(labels: Labels): { readonly policy: Policy; readonly errors: readonly FieldError[] } {
  const errors: FieldError[] = []
  const modeOf = (mode: keyof Policy): LevelVersion => ({
    level: levelOf(labels, `${PREFIX}${mode}`, mode === 'enforce' ? 'restricted' : 'privileged', errors),
    minor: minorOf(labels, `${PREFIX}${mode}-version`, errors),
  })
  return { policy: { enforce: modeOf('enforce'), audit: modeOf('audit'), warn: modeOf('warn') }, errors }
}

function levelOf(labels: Labels, label: string, otherwise: Level, errors: FieldError[]): Level {
  if (!Object.hasOwn(labels, label)) return 'privileged'
  const level = labels[label]!
  if (LEVELS.includes(level)) return level as Level
  errors.push(fieldInvalid(keyPath('metadata.labels', label), level, `must be one of ${LEVELS.join(', ')}`))
  return otherwise
}

function minorOf(labels: Labels, label: string, errors: FieldError[]): number {
  const version = Object.hasOwn(labels, label) ? labels[label]! : 'latest'
  if (version === 'latest') return LATEST
  const minor = /^v1\.(0|[1-9][0-9]{0,8})$/.exec(version)?.[1]
  if (minor !== undefined) return Number(minor)
  errors.push(fieldInvalid(keyPath('metadata.labels', label), version, 'must be "latest" or "v1.x"'))
  return LATEST
}
