// Fields behind feature gates: kube-apiserver drops them from what a client sends while their gate is off, unless the old
// object has them already. It does so after it has noted the manager of each field, so that a dropped field has one.
//
// In a path `[]` stands for the items of a list, `{}` for the members of a map, and `?` for an object that is dropped with its
// last field. `*` stands for the three lists of containers.

/** The paths of each gate. */
export type GatedFields = Readonly<Record<string, readonly string[]>>

/** In the spec of a pod, and so in every template of pods. */
export const OF_POD_SPECS: GatedFields = {
  ClusterTrustBundleProjection: ['volumes[].projected.sources[].clusterTrustBundle'],
  ContainerRestartRules: [
    'containers[].restartPolicy',
    'ephemeralContainers[].restartPolicy',
    '*[].restartPolicyRules',
  ],
  ContainerStopSignals: ['*[].lifecycle?.stopSignal'],
  DynamicResourceAllocation: ['*[].resources.claims', 'resourceClaims'],
  EnvFiles: ['*[].env[].valueFrom.fileKeyRef'],
  GenericWorkload: ['schedulingGroup'],
  HostnameOverride: ['hostnameOverride'],
  MatchLabelKeysInPodTopologySpread: ['topologySpreadConstraints[].matchLabelKeys'],
  PodCertificateRequest: ['volumes[].projected.sources[].podCertificate'],
  PodLevelResources: ['resources'],
}

/** Where a kind has the spec of a pod, by `group Kind`. */
export const POD_SPEC_AT: Readonly<Record<string, string>> = {
  ' Pod': 'spec',
  ' PodTemplate': 'template.spec',
  ' ReplicationController': 'spec.template.spec',
  'apps DaemonSet': 'spec.template.spec',
  'apps Deployment': 'spec.template.spec',
  'apps ReplicaSet': 'spec.template.spec',
  'apps StatefulSet': 'spec.template.spec',
  'batch CronJob': 'spec.jobTemplate.spec.template.spec',
  'batch Job': 'spec.template.spec',
}

/** In v1beta1 what a request asks for is in the request itself. */
const ofRequests = (at: string, name: string): string[] =>
  ['', '.exactly', '.firstAvailable[]'].map(part => `${at}${part}.${name}`)

/** In v1beta1 what a device has is in `basic`. */
const ofDevices = (...names: string[]): string[] =>
  names.flatMap(name => [`spec.devices[].${name}`, `spec.devices[].basic.${name}`])

const claimSpec = (at: string): GatedFields => ({
  DRAConsumableCapacity: [
    `${at}.devices.constraints[].distinctAttribute`,
    ...ofRequests(`${at}.devices.requests[]`, 'capacity'),
  ],
  DRAAdminAccess: ['', '.exactly'].map(part => `${at}.devices.requests[]${part}.adminAccess`),
  DRADeviceTaints: ofRequests(`${at}.devices.requests[]`, 'tolerations'),
  DRAPrioritizedList: [`${at}.devices.requests[].firstAvailable`],
})

const claimStatus: GatedFields = {
  DRAConsumableCapacity: [
    'status.allocation.devices.results[].shareID',
    'status.allocation.devices.results[].consumedCapacity',
    'status.devices[].shareID',
  ],
  DRADeviceBindingConditions: [
    'status.allocation.devices.results[].bindingConditions',
    'status.allocation.devices.results[].bindingFailureConditions',
  ],
  DRAResourceClaimDeviceStatus: ['status.devices'],
}

/** The gated fields of a kind beside those of its pods, by `group Kind`. */
export const OF_KINDS: Readonly<Record<string, readonly GatedFields[]>> = {
  ' PersistentVolume': [{ VolumeAttributesClass: ['spec.volumeAttributesClassName'] }],
  ' PersistentVolumeClaim': [
    { VolumeAttributesClass: ['spec.volumeAttributesClassName'] },
    { VolumeAttributesClass: ['status.currentVolumeAttributesClassName'] },
    { VolumeAttributesClass: ['status.modifyVolumeStatus'] },
  ],
  ' Node': [{ NodeDeclaredFeatures: ['status.declaredFeatures'] }],
  ' Pod': [
    {
      DRAExtendedResource: ['status.extendedResourceClaimStatus'],
      DRANodeAllocatableResources: ['status.nodeAllocatableResourceClaimStatuses'],
      InPlacePodLevelResourcesVerticalScaling: ['status.resources', 'status.allocatedResources'],
      PodObservedGenerationTracking: ['status.observedGeneration', 'status.conditions[].observedGeneration'],
      ResourceHealthStatus: [
        'status.containerStatuses[].allocatedResourcesStatus',
        'status.initContainerStatuses[].allocatedResourcesStatus',
        'status.ephemeralContainerStatuses[].allocatedResourcesStatus',
      ],
      ResourceHealthStatusMessage: ['container', 'initContainer', 'ephemeralContainer'].map(
        kind => `status.${kind}Statuses[].allocatedResourcesStatus[].resources[].message`,
      ),
    },
  ],
  'apiextensions.k8s.io CustomResourceDefinition': [
    { CRDObservedGenerationTracking: ['status.observedGeneration', 'status.conditions[].observedGeneration'] },
  ],
  'apps Deployment': [{ DeploymentReplicaSetTerminatingReplicas: ['status.terminatingReplicas'] }],
  'apps ReplicaSet': [{ DeploymentReplicaSetTerminatingReplicas: ['status.terminatingReplicas'] }],
  'apps StatefulSet': [{ MaxUnavailableStatefulSet: ['spec.updateStrategy.rollingUpdate.maxUnavailable'] }],
  'autoscaling HorizontalPodAutoscaler': [
    { HPAConfigurableTolerance: ['spec.behavior.scaleUp.tolerance', 'spec.behavior.scaleDown.tolerance'] },
  ],
  'coordination.k8s.io Lease': [
    { CoordinatedLeaderElection: ['spec.strategy'] },
    { CoordinatedLeaderElection: ['spec.preferredHolder'] },
  ],
  'resource.k8s.io DeviceClass': [{ DRAExtendedResource: ['spec.extendedResourceName'] }],
  'resource.k8s.io ResourceClaim': [claimSpec('spec'), claimStatus],
  'resource.k8s.io ResourceClaimTemplate': [claimSpec('spec.spec')],
  'resource.k8s.io ResourceSlice': [
    {
      DRAConsumableCapacity: ofDevices('allowMultipleAllocations', 'capacity{}.requestPolicy'),
      DRADeviceBindingConditions: ofDevices('bindingConditions', 'bindingFailureConditions', 'bindsToNode'),
      DRADeviceTaints: ofDevices('taints'),
      DRAListTypeAttributes: ofDevices(...['bools', 'ints', 'strings', 'versions'].map(each => `attributes{}.${each}`)),
      DRANodeAllocatableResources: ofDevices('nodeAllocatableResourceMappings'),
      DRAPartitionableDevices: [
        'spec.sharedCounters',
        'spec.perDeviceNodeSelection',
        ...ofDevices('consumesCounters', 'nodeName', 'nodeSelector', 'allNodes'),
      ],
    },
  ],
  'storage.k8s.io CSIDriver': [
    {
      CSIServiceAccountTokenSecrets: ['spec.serviceAccountTokenInSecrets'],
      MutableCSINodeAllocatableCount: ['spec.nodeAllocatableUpdatePeriodSeconds'],
      VolumeLimitScaling: ['spec.preventPodSchedulingIfMissing'],
    },
  ],
}
