// The feature gates that change something here, beside those of fields that are dropped while a gate is off, of rules
// that a gate changes, and of default roles. The others concern kubelets, schedulers, clients or parts of kube-apiserver that are not here; they
// are accepted with a warning.
import { roleGates } from '../../auth/bootstrap-roles.js'
import { UsageError } from '../../base/usage-error.js'
import { fieldGates, validationGates } from '../../builtin/builtin-kinds.js'
import { type FeatureGates, isGateOn } from '../../meta/feature-gates.js'

/** Objects that cannot be read may be deleted, and errors of reading say which objects these are. */
export const UNSAFE_DELETION = 'AllowUnsafeMalformedObjectDeletion'

/** A proxy may give the uid of its user, and extension servers get it. */
export const REMOTE_UID = 'RemoteRequestHeaderUID'

const EFFECTIVE: ReadonlySet<string> = new Set([
  'APIServerIdentity',
  'AllAlpha',
  'AllBeta',
  'AllowParsingUserUIDFromCertAuth',
  'AuthorizePodWebsocketUpgradeCreatePermission',
  'AllowInsecureKubeletCertificateSigningRequests',
  UNSAFE_DELETION,
  'CBORServingAndStorage',
  'ComponentFlagz',
  'ComponentStatusz',
  'ConstrainedImpersonation',
  'MutatingAdmissionPolicy',
  'OpenAPIEnums',
  'PodCertificateRequest',
  'PodTopologyLabelsAdmission',
  'ServiceAccountNodeAudienceRestriction',
  REMOTE_UID,
  'StorageVersionHash',
  'StorageVersionMigrator',
  'TokenRequestServiceAccountUIDValidation',
  'WatchCacheInitializationPostStartHook',
  'WatchList',
])

/** Warnings for gates that were changed from their default without an effect. */
export function gatesWithoutEffect(gates: FeatureGates): string[] {
  const isEffective = (name: string): boolean =>
    [EFFECTIVE, fieldGates(), validationGates(), roleGates()].some(names => names.has(name))
  return Object.entries(gates).flatMap(([name, isOn]) =>
    isEffective(name) || isGateOn({}, name) === isOn ? [] : `--feature-gates: ${name} has no effect here`,
  )
}

/** Throws a UsageError for options that a gate would have to allow. */
export function checkGatedOptions(
  { requestHeader }: { readonly requestHeader?: { readonly uidHeaders: readonly string[] } | undefined },
  gates: FeatureGates,
): void {
  if (!isGateOn(gates, REMOTE_UID) && requestHeader && requestHeader.uidHeaders.length > 0)
    throw new UsageError(`--requestheader-uid-headers requires the "${REMOTE_UID}" feature to be enabled`)
}

/** On by default only here: the API that it works for is off until --runtime-config switches it on. */
export const migratesStorage = (gates: FeatureGates): boolean => gates['StorageVersionMigrator'] ?? true

/** Admission plugins that a gate switches off. */
const PLUGINS = {
  NodeDeclaredFeatureValidator: 'NodeDeclaredFeatures',
  PodTopologyLabels: 'PodTopologyLabelsAdmission',
  MutatingAdmissionPolicy: 'MutatingAdmissionPolicy',
}

export function admissionWithGates<O extends { readonly disabled: readonly string[] }>(
  options: O,
  gates: FeatureGates,
): O {
  const off = Object.entries(PLUGINS).flatMap(([plugin, gate]) => (isGateOn(gates, gate) ? [] : plugin))
  return off.length === 0 ? options : { ...options, disabled: [...options.disabled, ...off] }
}
