// The order of groups and versions: those of built-in groups are kube-apiserver's, groups of custom resources come after
// them. Clients resolve an ambiguous name to the first group that has it. An APIService with a Service has its own.

/** Of a custom group. */
const CUSTOM_GROUP = 1000
const CUSTOM_VERSION = 100

export const isBuiltinGroup = (group: string): boolean => Object.hasOwn(GROUP_PRIORITIES, group)

/** The higher comes first. */
export const groupPriority = (group: string): number =>
  isBuiltinGroup(group) ? GROUP_PRIORITIES[group]! : CUSTOM_GROUP

export function versionPriority(group: string, version: string): number {
  if (!isBuiltinGroup(group)) return CUSTOM_VERSION
  return VERSION_PRIORITIES[`${group}/${version}`] ?? (/^v\d+$/.test(version) ? 15 : version.includes('beta') ? 12 : 9)
}

const VERSION_PRIORITIES: Readonly<Record<string, number>> = {
  '/v1': 1,
  'autoscaling/v2': 30,
  'coordination.k8s.io/v1alpha2': 12,
  'coordination.k8s.io/v1beta1': 13,
  'flowcontrol.apiserver.k8s.io/v1': 21,
  'networking.k8s.io/v1beta1': 9,
  'resource.k8s.io/v1': 21,
  'resource.k8s.io/v1alpha3': 1,
  'resource.k8s.io/v1beta1': 9,
  'resource.k8s.io/v1beta2': 15,
  'storage.k8s.io/v1beta1': 9,
}

const GROUP_PRIORITIES: Readonly<Record<string, number>> = {
  'apiregistration.k8s.io': 20_000,
  '': 18_000,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'apiextensions.k8s.io': 16_700,
  'admissionregistration.k8s.io': 16_700,
  'scheduling.k8s.io': 16_600,
  'coordination.k8s.io': 16_500,
  'node.k8s.io': 16_300,
  'discovery.k8s.io': 16_200,
  'flowcontrol.apiserver.k8s.io': 16_100,
  'internal.apiserver.k8s.io': 16_000,
  'resource.k8s.io': 16_200,
  'storagemigration.k8s.io': 15_800,
}
