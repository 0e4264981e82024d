// Feature gates: their stage, their default, and which of them are locked to it, in v1.36 and in the releases that can be
// emulated. What kube-apiserver refuses is refused with its words.
import { UsageError } from '../base/usage-error.js'
import { type EffectiveVersion, NOT_EMULATED, printMinor } from './effective-version.js'
import { DEPENDENCIES, GATE_HISTORIES } from './feature-gate-table.js'

/** Gates whose value is not the default of v1.36, by name. */
export type FeatureGates = Readonly<Record<string, boolean>>

export interface FeatureGate {
  readonly name: string
  /** `ALPHA`, `BETA`, `DEPRECATED`, or empty for a feature that is generally available. */
  readonly stage: string
  readonly isOn: boolean
}

/** What a gate is in one release. */
interface GateState {
  readonly stage: string
  readonly isOn: boolean
  readonly isLocked: boolean
}

/** Throws a UsageError for what kube-apiserver refuses: unknown gates, locked gates, gates that need others. */
export function checkFeatureGates(gates: FeatureGates, version: EffectiveVersion = NOT_EMULATED): void {
  const entries = Object.entries(gates)
  const known = gatesOf(version.emulation)
  const unknown = entries.find(([name]) => !NEWEST.has(name) && !STAGES.has(name))
  if (unknown) throw new UsageError(`unrecognized feature gate: ${unknown[0]}`)
  refuse(
    entries.flatMap(([name, isOn]) => {
      const gate = known.get(name)
      if (STAGES.has(name)) return []
      const refusal = `cannot set feature gate ${name} to ${isOn}, feature is`
      if (gate === undefined) return `${refusal} PreAlpha at ${printVersions(version)}`
      return gate.isLocked && gate.isOn !== isOn ? `${refusal} locked to ${gate.isOn}` : []
    }),
  )
  const isOn = (name: string): boolean => valueOf(gates, name, known.get(name) ?? UNKNOWN)
  refuse(
    Object.entries(DEPENDENCIES).flatMap(([name, needs]) => {
      const off = isOn(name) ? needs.split(' ').filter(each => !isOn(each)) : []
      return off.length > 0 ? `${name} is enabled, but depends on features that are disabled: [${off.join(' ')}]` : []
    }),
  )
}

const printVersions = ({ emulation, minCompatibility }: EffectiveVersion): string =>
  `emulated version ${printMinor(emulation)}, min compatibility version ${printMinor(minCompatibility)}`

function refuse(errors: readonly string[]): void {
  if (errors.length > 0) throw new UsageError(errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)
}

/** Whether a gate is on: as it was set, as all gates of its stage were set, or by default. */
export function isGateOn(gates: FeatureGates, name: string): boolean {
  const gate = NEWEST.get(name)
  if (!gate && gates[name] === undefined) throw new Error(`${name} is not a feature gate`)
  return valueOf(gates, name, gate ?? UNKNOWN)
}

function valueOf(gates: FeatureGates, name: string, { stage, isOn, isLocked }: GateState): boolean {
  return gates[name] ?? (isLocked ? isOn : (stageOf(gates, stage) ?? isOn))
}

function stageOf(gates: FeatureGates, stage: string): boolean | undefined {
  if (stage === 'ALPHA') return gates['AllAlpha']
  return stage === 'BETA' ? gates['AllBeta'] : undefined
}

/** The gates as they were set, and those that have another value in an emulated release than in v1.36. */
export function gatesAtVersion(gates: FeatureGates, { emulation }: EffectiveVersion): FeatureGates {
  if (emulation === NOT_EMULATED.emulation) return gates
  const known = gatesOf(emulation)
  const others = [...NEWEST.keys()].flatMap((name): [string, boolean][] => {
    const isOn = valueOf(gates, name, known.get(name) ?? UNKNOWN)
    return isOn === isGateOn(gates, name) ? [] : [[name, isOn]]
  })
  return { ...gates, ...Object.fromEntries(others) }
}

/** Every gate that a release has, with its value, in the order of the names. */
export function allFeatureGates(gates: FeatureGates, { emulation }: EffectiveVersion = NOT_EMULATED): FeatureGate[] {
  const stages = [...STAGES].map(([name, stage]) => ({ name, stage, isOn: gates[name] ?? false }))
  const known = [...gatesOf(emulation)].map(([name, gate]) => ({
    name,
    stage: gate.stage,
    isOn: valueOf(gates, name, gate),
  }))
  return [...known, ...stages].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Gates that stand for all gates of a stage which are not set by themselves. */
const STAGES: ReadonlyMap<string, string> = new Map([
  ['AllAlpha', 'ALPHA'],
  ['AllBeta', 'BETA'],
])

/** A gate that an emulated release does not have yet. */
const UNKNOWN: GateState = { stage: 'PRE-ALPHA', isOn: false, isLocked: false }

const LETTERS: Readonly<Record<string, string>> = { a: 'ALPHA', b: 'BETA', g: '', d: 'DEPRECATED' }

/** The gates of a release. */
function gatesOf(minor: number): ReadonlyMap<string, GateState> {
  if (minor === NOT_EMULATED.emulation) return NEWEST
  return readHistories(minor)
}

function readHistories(minor: number): ReadonlyMap<string, GateState> {
  const gates = new Map<string, GateState>()
  for (const line of GATE_HISTORIES.trim().split('\n')) {
    const [name, ...changes] = line.trim().split(' ')
    const current = changes.findLast(change => (Number.parseInt(change, 10) || 0) <= minor)
    if (current !== undefined) gates.set(name!, stateOf(current.replace(/^[0-9]+/, '')))
  }
  return gates
}

function stateOf(text: string): GateState {
  const letter = text[0]!
  const isOn = letter === letter.toUpperCase()
  return { stage: LETTERS[letter.toLowerCase()]!, isOn, isLocked: text.endsWith('!') }
}

const NEWEST: ReadonlyMap<string, GateState> = readHistories(NOT_EMULATED.emulation)
