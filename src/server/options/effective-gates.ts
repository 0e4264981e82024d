// The feature gates that change something here. The others concern kubelets, schedulers, clients or parts of
// kube-apiserver that are not here; they are accepted with a warning.
import { type FeatureGates, isGateOn } from '../../meta/feature-gates.js'

const EFFECTIVE: ReadonlySet<string> = new Set([
  'AllAlpha',
  'AllBeta',
  'AllowUnsafeMalformedObjectDeletion',
  'CBORServingAndStorage',
  'StorageVersionMigrator',
  'WatchList',
])

/** Warnings for gates that were changed from their default without an effect. */
export const gatesWithoutEffect = (gates: FeatureGates): string[] =>
  Object.entries(gates).flatMap(([name, isOn]) =>
    EFFECTIVE.has(name) || isGateOn({}, name) === isOn ? [] : `--feature-gates: ${name} has no effect here`,
  )

/** On by default only here: the API that it works for is off until --runtime-config switches it on. */
export const migratesStorage = (gates: FeatureGates): boolean => gates['StorageVersionMigrator'] ?? true
