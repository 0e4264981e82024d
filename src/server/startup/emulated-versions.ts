// What an emulated release serves: without the versions of resources that came later, and with those that were removed since.
import { UsageError } from '../../base/usage-error.js'
import type { Kind, KindVersion } from '../../kinds/kind.js'
import { apiVersionOf } from '../../kinds/kind-names.js'
import { printMinor } from '../../meta/effective-version.js'
import type { RuntimeConfig } from '../options/api.js'
import type { VersionOptions } from '../options/versions.js'

/** By group version: the resources that it has since a release after v1.31. */
const INTRODUCED: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  'admissionregistration.k8s.io/v1': { 36: 'mutatingadmissionpolicies mutatingadmissionpolicybindings' },
  'admissionregistration.k8s.io/v1alpha1': { 32: 'mutatingadmissionpolicies mutatingadmissionpolicybindings' },
  'admissionregistration.k8s.io/v1beta1': { 34: 'mutatingadmissionpolicies mutatingadmissionpolicybindings' },
  'certificates.k8s.io/v1beta1': { 33: 'clustertrustbundles', 35: 'podcertificaterequests' },
  'coordination.k8s.io/v1alpha2': { 32: 'leasecandidates' },
  'coordination.k8s.io/v1beta1': { 33: 'leasecandidates' },
  'networking.k8s.io/v1': { 33: 'ipaddresses servicecidrs' },
  'resource.k8s.io/v1': { 34: 'deviceclasses resourceclaims resourceclaimtemplates resourceslices' },
  'resource.k8s.io/v1alpha3': { 33: 'devicetaintrules', 36: 'resourcepoolstatusrequests' },
  'resource.k8s.io/v1beta1': { 32: 'deviceclasses resourceclaims resourceclaimtemplates resourceslices' },
  'resource.k8s.io/v1beta2': {
    33: 'deviceclasses resourceclaims resourceclaimtemplates resourceslices',
    36: 'devicetaintrules',
  },
  'storage.k8s.io/v1': { 34: 'volumeattributesclasses' },
  'storagemigration.k8s.io/v1beta1': { 35: 'storageversionmigrations' },
}

/** By group version: the resources that it has no more since a release. */
const REMOVED: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  'admissionregistration.k8s.io/v1beta1': { 34: 'validatingadmissionpolicies validatingadmissionpolicybindings' },
}

function releaseOf(table: typeof INTRODUCED, kind: Kind, version: string): number | undefined {
  const releases = Object.entries(table[apiVersionOf(kind, version)] ?? {})
  const found = releases.find(([, resources]) => resources.split(' ').includes(kind.names.plural))
  return found && Number(found[0])
}

const introducedIn = (kind: Kind, version: string): number => releaseOf(INTRODUCED, kind, version) ?? 0

/**
 * The kinds as the emulated release has them; `config` has already decided which versions are served. Throws a UsageError for a
 * version that --runtime-config names and the release lacks.
 */
export function emulateKinds(kinds: readonly Kind[], config: RuntimeConfig, options: VersionOptions): Kind[] {
  const emulated = kinds.map(kind => withStorageVersion(withServedVersions(kind, config, options), options))
  const lacking = Object.keys(config).find(
    apiVersion => config[apiVersion] && isServed(kinds, apiVersion) && !isServed(emulated, apiVersion),
  )
  if (lacking !== undefined) throw new UsageError(versionRefusal(lacking, options))
  return emulated
}

const isServed = (kinds: readonly Kind[], apiVersion: string): boolean =>
  kinds.some(kind => kind.versions.some(({ name, served }) => served && apiVersionOf(kind, name) === apiVersion))

const HINT = 'Consider setting --runtime-config-emulation-forward-compatible=true'

const versionRefusal = (apiVersion: string, { emulation }: VersionOptions): string =>
  `cannot enable version ${apiVersion} in runtime-config because all the resources have been introduced after the current version ${printMinor(emulation)}. ${HINT}`

function resourceRefusal(kind: Kind, version: string, { emulation }: VersionOptions): string {
  const resource = `${apiVersionOf(kind, version)}, Resource=${kind.names.plural}`
  const since = printMinor(introducedIn(kind, version))
  return `cannot enable resource ${resource} in runtime-config because it is introduced at ${since} after the current version ${printMinor(emulation)}. ${HINT}`
}

const isAlpha = (version: string): boolean => /^v[0-9]+alpha[0-9]+$/.test(version)

function withServedVersions(kind: Kind, config: RuntimeConfig, options: VersionOptions): Kind {
  const { emulation, forwardCompatible, configForwardCompatible } = options
  let hasOlder = false
  const decide = ({ name, served }: KindVersion): boolean => {
    const apiVersion = apiVersionOf(kind, name)
    const byResource = config[`${apiVersion}/${kind.names.plural}`]
    const isOff = (byResource ?? config[apiVersion]) === false
    if ((releaseOf(REMOVED, kind, name) ?? Infinity) <= emulation) return false
    if (!served && !(forwardCompatible && hasOlder && !isOff)) return false
    if (introducedIn(kind, name) <= emulation || (forwardCompatible && hasOlder)) return true
    if (configForwardCompatible) return byResource ?? config[apiVersion] ?? false
    if (byResource) throw new UsageError(resourceRefusal(kind, name, options))
    return false
  }
  // From the oldest version: newer ones may depend on whether an older one is served.
  const versions: KindVersion[] = []
  for (const version of kind.versions.toReversed()) {
    const served = decide(version)
    hasOlder ||= served && !isAlpha(version.name)
    versions.unshift(served === version.served ? version : { ...version, served })
  }
  return versions.every((version, i) => version === kind.versions[i]) ? kind : { ...kind, versions }
}

/** The newest version that the oldest compatible release has. A kind that is stored in an older one on purpose stays so. */
function withStorageVersion(kind: Kind, { minCompatibility }: VersionOptions): Kind {
  const [newest] = kind.versions
  if (newest === undefined || kind.storageVersion !== newest.name) return kind
  const known = kind.versions.find(({ name }) => introducedIn(kind, name) <= minCompatibility) ?? newest
  return known === newest ? kind : { ...kind, storageVersion: known.name, storedAs: apiVersionOf(kind, known.name) }
}
