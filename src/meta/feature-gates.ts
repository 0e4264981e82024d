// The feature gates of kube-apiserver v1.36: their stage, their default, and which of them are locked to it. What
// kube-apiserver refuses is refused with its words.
import { UsageError } from '../base/usage-error.js'

/** Gates that were set, by name. */
export type FeatureGates = Readonly<Record<string, boolean>>

export interface FeatureGate {
  readonly name: string
  /** `ALPHA`, `BETA`, `DEPRECATED`, or empty for a feature that is generally available. */
  readonly stage: string
  readonly isOn: boolean
}

/** Throws a UsageError for what kube-apiserver refuses: unknown gates, locked gates, gates that need others. */
export function checkFeatureGates(gates: FeatureGates): void {
  const entries = Object.entries(gates)
  const unknown = entries.find(([name]) => !KNOWN.has(name) && !STAGES.has(name))
  if (unknown) throw new UsageError(`unrecognized feature gate: ${unknown[0]}`)
  const locked = entries.flatMap(([name, isOn]) => {
    const gate = KNOWN.get(name)
    return gate?.isLocked && gate.isOn !== isOn
      ? `cannot set feature gate ${name} to ${isOn}, feature is locked to ${gate.isOn}`
      : []
  })
  refuse(locked)
  const unmet = Object.entries(DEPENDENCIES).flatMap(([name, needs]) => {
    const off = isGateOn(gates, name) ? needs.split(' ').filter(each => !isGateOn(gates, each)) : []
    return off.length > 0 ? `${name} is enabled, but depends on features that are disabled: [${off.join(' ')}]` : []
  })
  refuse(unmet)
}

function refuse(errors: readonly string[]): void {
  if (errors.length > 0) throw new UsageError(errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)
}

/** Whether a gate is on: as it was set, as all gates of its stage were set, or by default. */
export function isGateOn(gates: FeatureGates, name: string): boolean {
  const explicit = gates[name]
  if (explicit !== undefined) return explicit
  const gate = KNOWN.get(name)
  if (!gate) throw new Error(`${name} is not a feature gate`)
  return gate.isLocked ? gate.isOn : (stageOf(gates, gate.stage) ?? gate.isOn)
}

function stageOf(gates: FeatureGates, stage: string): boolean | undefined {
  if (stage === 'ALPHA') return gates['AllAlpha']
  return stage === 'BETA' ? gates['AllBeta'] : undefined
}

/** Every gate with its value, in the order of the names. */
export function allFeatureGates(gates: FeatureGates): FeatureGate[] {
  const stages = [...STAGES].map(([name, stage]) => ({ name, stage, isOn: gates[name] ?? false }))
  const known = [...KNOWN].map(([name, { stage }]) => ({ name, stage, isOn: isGateOn(gates, name) }))
  return [...known, ...stages].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Gates that stand for all gates of a stage which are not set by themselves. */
const STAGES: ReadonlyMap<string, string> = new Map([
  ['AllAlpha', 'ALPHA'],
  ['AllBeta', 'BETA'],
])

interface KnownGates {
  readonly stage: string
  readonly isOn: boolean
  readonly isLocked: boolean
  readonly names: string
}

const TABLE: readonly KnownGates[] = [
  {
    stage: '',
    isOn: true,
    isLocked: true,
    names: `
    APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors
    AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting
    CSIServiceAccountTokenSecrets ConsistentListFromCache CustomResourceFieldSelectors DRAAdminAccess
    DeclarativeValidation DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout
    ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume InOrderInformers InPlacePodVerticalScaling
    JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI
    KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing
    LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator MutableCSINodeAllocatableCount
    NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap OrderedNamespaceDeletion
    PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PodObservedGenerationTracking PodSchedulingReadiness
    PreferSameTrafficDistribution ProcMountType RecoverVolumeExpansionFailure RecursiveReadOnlyMounts
    RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization
    RetryGenerateName SELinuxChangePolicy SELinuxMountReadWriteOncePod SchedulerQueueingHints
    SeparateTaintEvictionController ServiceAccountTokenJTI ServiceAccountTokenNodeBinding
    ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo SidecarContainers
    StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
    SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport
    VolumeAttributesClass WinDSR WinOverlay
`,
  },
  {
    stage: '',
    isOn: true,
    isLocked: false,
    names: `
    AllowServiceExternalIPs CustomCPUCFSQuotaPeriod DRAPrioritizedList InformerResourceVersion
    MutatingAdmissionPolicy
`,
  },
  {
    stage: 'BETA',
    isOn: true,
    isLocked: false,
    names: `
    APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AtomicFIFO
    AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
    ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowTLSCacheGC ComponentFlagz
    ComponentStatusz ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules ContextualLogging
    DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices
    DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout
    DeclarativeValidationBeta DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency EnvFiles
    ExtendWebSocketsToKubelet GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance
    HostnameOverride InOrderInformersBatchProcess InPlacePodLevelResourcesVerticalScaling
    InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages
    KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions
    MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
    MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures
    NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PLEGOnDemandRelist PodDeletionCost
    PodLevelResources PodReadyToStartContainersCondition PodTopologyLabelsAdmission PortForwardWebsockets
    PreventStaticPodAPIReferences RelaxedServiceNameValidation ReloadKubeletClientCAFile
    ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus ResourceHealthStatusMessage
    RestartAllContainersOnContainerExits RotateKubeletServerCertificate SchedulerAsyncPreemption
    SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
    StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
    StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison StorageVersionHash
    StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector
    StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
    TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
    UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO WatchCacheInitializationPostStartHook WatchList
    WatchListClient WindowsGracefulNodeShutdown
`,
  },
  {
    stage: 'BETA',
    isOn: false,
    isLocked: false,
    names: `
    ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode CoordinatedLeaderElection
    DRADeviceTaintRules LocalStorageCapacityIsolationFSQuotaMonitoring MaxUnavailableStatefulSet
    PodCertificateRequest SELinuxMount SchedulerAsyncAPICalls StorageVersionMigrator
`,
  },
  {
    stage: 'ALPHA',
    isOn: false,
    isLocked: false,
    names: `
    APIServingWithRoutine AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions
    CRIListStreaming CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR
    CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook ContainerStopSignals
    ControllerManagerReleaseLeaderElectionLockOnExit CrossNamespaceVolumeDataSource DRAListTypeAttributes
    DRANodeAllocatableResources DRAResourcePoolStatus DRAWorkloadResourceClaims EventedPLEG GangScheduling
    GenericWorkload HPAScaleToZero ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs
    InPlacePodVerticalScalingExclusiveMemory KubeletInUserNamespace LoggingAlphaOptions
    ManifestBasedAdmissionControlConfig MemoryQoS MutablePVNodeAffinity NativeHistograms
    PersistentVolumeClaimUnusedSinceTime PodAndContainerStatsFromCRI PodLevelResourceManagers
    PodLogsQuerySplitStreams PodsAPI QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi
    ShardedListAndWatch StorageCapacityScoring StorageVersionAPI TaintTolerationComparisonOperators
    TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport
    VolumeLimitScaling WindowsCPUAndMemoryAffinity WorkloadAwarePreemption WorkloadWithJob
`,
  },
  {
    stage: 'DEPRECATED',
    isOn: true,
    isLocked: true,
    names: `
    AggregatedDiscoveryRemoveBetaType DisableNodeKubeProxyVersion
`,
  },
  {
    stage: 'DEPRECATED',
    isOn: true,
    isLocked: false,
    names: `
    DisableCPUQuotaWithExclusiveCPUs KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping
    StorageNamespaceIndex
`,
  },
  {
    stage: 'DEPRECATED',
    isOn: false,
    isLocked: true,
    names: `
    AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC
`,
  },
  {
    stage: 'DEPRECATED',
    isOn: false,
    isLocked: false,
    names: `
    AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart
    DeclarativeValidationTakeover KMSv1 KubeletRegistrationGetOnExistsOnly WindowsHostNetwork
`,
  },
]

/** The gates that a gate needs. */
const DEPENDENCIES: Readonly<Record<string, string>> = {
  AuthorizeNodeWithSelectors: 'AuthorizeWithSelectors',
  ClusterTrustBundleProjection: 'ClusterTrustBundle',
  DRAAdminAccess: 'DynamicResourceAllocation',
  DRAConsumableCapacity: 'DynamicResourceAllocation',
  DRADeviceBindingConditions: 'DRAResourceClaimDeviceStatus DynamicResourceAllocation',
  DRADeviceTaintRules: 'DRADeviceTaints',
  DRADeviceTaints: 'DynamicResourceAllocation',
  DRAExtendedResource: 'DynamicResourceAllocation',
  DRAListTypeAttributes: 'DynamicResourceAllocation',
  DRANodeAllocatableResources: 'DynamicResourceAllocation',
  DRAPartitionableDevices: 'DynamicResourceAllocation',
  DRAPrioritizedList: 'DynamicResourceAllocation',
  DRAResourceClaimGranularStatusAuthorization: 'DRAResourceClaimDeviceStatus DynamicResourceAllocation',
  DRAResourcePoolStatus: 'DynamicResourceAllocation',
  DRASchedulerFilterTimeout: 'DynamicResourceAllocation',
  DRAWorkloadResourceClaims: 'DynamicResourceAllocation GenericWorkload',
  DeclarativeValidationBeta: 'DeclarativeValidation',
  DeclarativeValidationTakeover: 'DeclarativeValidation',
  DisableAllocatorDualWrite: 'MultiCIDRServiceAllocator',
  ExtendWebSocketsToKubelet: 'NodeDeclaredFeatures',
  GangScheduling: 'GenericWorkload',
  GracefulNodeShutdownBasedOnPodPriority: 'GracefulNodeShutdown',
  ImageVolumeWithDigest: 'ImageVolume',
  InPlacePodLevelResourcesVerticalScaling: 'InPlacePodVerticalScaling NodeDeclaredFeatures PodLevelResources',
  InPlacePodVerticalScalingExclusiveCPUs: 'InPlacePodVerticalScaling',
  InPlacePodVerticalScalingExclusiveMemory: 'InPlacePodVerticalScaling',
  InPlacePodVerticalScalingInitContainers: 'InPlacePodVerticalScaling NodeDeclaredFeatures',
  MatchLabelKeysInPodTopologySpreadSelectorMerge: 'MatchLabelKeysInPodTopologySpread',
  PodCertificateRequest: 'AuthorizeNodeWithSelectors',
  PodLevelResourceManagers: 'PodLevelResources',
  PodLifecycleSleepActionAllowZero: 'PodLifecycleSleepAction',
  ProcMountType: 'UserNamespacesSupport',
  ResourceHealthStatus: 'DynamicResourceAllocation',
  ResourceHealthStatusMessage: 'ResourceHealthStatus',
  RestartAllContainersOnContainerExits: 'ContainerRestartRules NodeDeclaredFeatures',
  ServiceAccountTokenNodeBinding: 'ServiceAccountTokenNodeBindingValidation',
  StorageVersionAPI: 'APIServerIdentity',
  StructuredAuthenticationConfigurationEgressSelector: 'StructuredAuthenticationConfiguration',
  StructuredAuthenticationConfigurationJWKSMetrics: 'StructuredAuthenticationConfiguration',
  TopologyAwareWorkloadScheduling: 'GenericWorkload',
  UnknownVersionInteroperabilityProxy: 'APIServerIdentity',
  UserNamespacesHostNetworkSupport: 'NodeDeclaredFeatures UserNamespacesSupport',
  WindowsGracefulNodeShutdown: 'GracefulNodeShutdown',
  WorkloadAwarePreemption: 'GangScheduling',
  WorkloadWithJob: 'GenericWorkload',
}

const KNOWN: ReadonlyMap<string, Omit<KnownGates, 'names'>> = new Map(
  TABLE.flatMap(({ names, ...gate }) =>
    names
      .trim()
      .split(/\s+/)
      .map((name): [string, Omit<KnownGates, 'names'>] => [name, gate]),
  ),
)
