// The feature gates that change something here, beside those of fields that are dropped while a gate is off, of rules
// that a gate changes, and of default roles. The others concern kubelets, schedulers, clients or parts of kube-apiserver that are not here; they
// are accepted with a warning.
import { roleGates } from '../../auth/bootstrap-roles.js'
import type { JwtIssuer } from '../../auth/openid-connect.js'
import { UsageError } from '../../base/usage-error.js'
import { fieldGates, validationGates } from '../../builtin/builtin-kinds.js'
import { asTypedText, fieldInvalid, printFieldErrors } from '../../meta/errors/field-errors.js'
import { type FeatureGates, isGateOn } from '../../meta/feature-gates.js'

/** Objects that cannot be read may be deleted, and errors of reading say which objects these are. */
export const UNSAFE_DELETION = 'AllowUnsafeMalformedObjectDeletion'

/** A proxy may give the uid of its user, and extension servers get it. */
export const REMOTE_UID = 'RemoteRequestHeaderUID'

/** Issuers of tokens may be reached through a proxy. */
const ISSUER_EGRESS = 'StructuredAuthenticationConfigurationEgressSelector'

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
  ISSUER_EGRESS,
  'StructuredAuthenticationConfigurationJWKSMetrics',
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
export function checkGatedOptions({ requestHeader, openIdConnect }: GatedOptions, gates: FeatureGates): void {
  if (!isGateOn(gates, REMOTE_UID) && requestHeader && requestHeader.uidHeaders.length > 0)
    throw new UsageError(`--requestheader-uid-headers requires the "${REMOTE_UID}" feature to be enabled`)
  if (openIdConnect) checkGatedIssuers(openIdConnect.configuration.issuers, gates)
}

interface GatedOptions {
  readonly requestHeader?: { readonly uidHeaders: readonly string[] } | undefined
  readonly openIdConnect?: { readonly configuration: { readonly issuers: readonly EgressOfIssuer[] } } | undefined
}

type EgressOfIssuer = Pick<JwtIssuer, 'egressSelectorType'>

/** Throws a UsageError for issuers that a gate would have to allow. */
export function checkGatedIssuers(issuers: readonly EgressOfIssuer[], gates: FeatureGates): void {
  if (isGateOn(gates, ISSUER_EGRESS)) return
  const why = `egress selector is not supported when ${ISSUER_EGRESS} feature gate is disabled`
  const errors = issuers.flatMap(({ egressSelectorType }, i) =>
    egressSelectorType === ''
      ? []
      : [fieldInvalid(`jwt[${i}].issuer.egressSelectorType`, asTypedText(egressSelectorType), why)],
  )
  if (errors.length > 0) throw new UsageError(`invalid authentication configuration: ${printFieldErrors(errors)}`)
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
