// The feature gates of kube-apiserver v1.36. Unknown gates and other values of locked gates are refused, with
// kube-apiserver's words. A gate that may be set is accepted with a warning where setting it changes nothing here.
import { UsageError } from '../../base/usage-error.js'

export type FeatureGates = Readonly<Record<string, boolean>>

/** The gates that change something here, with their defaults. */
const EFFECTIVE = {
  AllowUnsafeMalformedObjectDeletion: false,
  CBORServingAndStorage: false,
  // On by default only here: the API that it works for is off until --runtime-config switches it on.
  StorageVersionMigrator: true,
  WatchList: true,
} as const satisfies FeatureGates

/** Gates that stand for all gates of a stage which are not set by themselves. */
const STAGES = { AllAlpha: ['AllowUnsafeMalformedObjectDeletion', 'CBORServingAndStorage'] }

/** What was set without an effect. Throws a UsageError for what kube-apiserver refuses. */
export function checkFeatureGates(gates: FeatureGates): string[] {
  const entries = Object.entries(gates)
  const unknown = entries.find(([gate]) => lockedValue(gate) === undefined && !SETTABLE.has(gate))
  if (unknown) throw new UsageError(`unrecognized feature gate: ${unknown[0]}`)
  const errors = entries.flatMap(([gate, isOn]) => {
    const locked = lockedValue(gate)
    return locked === undefined || locked === isOn
      ? []
      : `cannot set feature gate ${gate} to ${isOn}, feature is locked to ${locked}`
  })
  if (errors.length > 0) throw new UsageError(errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)
  return entries.flatMap(([gate]) => {
    if (lockedValue(gate) !== undefined) return []
    return isEffective(gate) || Object.hasOwn(STAGES, gate) ? [] : `--feature-gates: ${gate} has no effect here`
  })
}

const isEffective = (gate: string): gate is keyof typeof EFFECTIVE => Object.hasOwn(EFFECTIVE, gate)

/** Whether a gate that changes something here is on. */
export function isGateOn(gates: FeatureGates, gate: keyof typeof EFFECTIVE): boolean {
  const explicit = gates[gate]
  if (explicit !== undefined) return explicit
  const stage = STAGES.AllAlpha.includes(gate) ? gates['AllAlpha'] : undefined
  return stage ?? EFFECTIVE[gate]
}

const lockedValue = (gate: string): boolean | undefined =>
  LOCKED_ON.has(gate) ? true : LOCKED_OFF.has(gate) ? false : undefined

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

const LOCKED_OFF = words('AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC')

const LOCKED_ON = words(`
  APIServerTracing AggregatedDiscoveryRemoveBetaType AnonymousAuthConfigurableEndpoints AnyVolumeDataSource
  AuthorizeNodeWithSelectors AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting
  CSIServiceAccountTokenSecrets ConsistentListFromCache CustomResourceFieldSelectors DRAAdminAccess
  DeclarativeValidation DisableAllocatorDualWrite DisableNodeKubeProxyVersion DynamicResourceAllocation
  ExecProbeTimeout ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume InPlacePodVerticalScaling
  JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI
  KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing
  LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator MutableCSINodeAllocatableCount
  NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap OrderedNamespaceDeletion
  PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PodObservedGenerationTracking PodSchedulingReadiness
  PreferSameTrafficDistribution ProcMountType RecoverVolumeExpansionFailure RecursiveReadOnlyMounts
  RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization RetryGenerateName
  SELinuxChangePolicy SELinuxMountReadWriteOncePod SchedulerQueueingHints SeparateTaintEvictionController
  ServiceAccountTokenJTI ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
  ServiceAccountTokenPodNodeInfo SidecarContainers StreamingCollectionEncodingToJSON
  StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration SupplementalGroupsPolicy
  TopologyManagerPolicyOptions UserNamespacesSupport VolumeAttributesClass WinDSR WinOverlay
`)

const SETTABLE = words(`
  APIResponseCompression APIServerIdentity APIServingWithRoutine AllAlpha AllBeta AllowDNSOnlyNodeCSR
  AllowInsecureKubeletCertificateSigningRequests AllowParsingUserUIDFromCertAuth AllowServiceExternalIPs
  AllowUnsafeMalformedObjectDeletion AtomicFIFO AuthorizePodWebsocketUpgradeCreatePermission CBORServingAndStorage
  CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions CRDObservedGenerationTracking CRIListStreaming
  CSIVolumeHealth ChangeContainerStatusOnKubeletRestart ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation
  ClientsAllowCBOR ClientsAllowTLSCacheGC ClientsPreferCBOR CloudControllerManagerWatchBasedRoutesReconciliation
  CloudControllerManagerWebhook ClusterTrustBundle ClusterTrustBundleProjection ComponentFlagz ComponentStatusz
  ConcurrentWatchObjectDecode ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules ContainerStopSignals
  ContextualLogging ControllerManagerReleaseLeaderElectionLockOnExit CoordinatedLeaderElection
  CrossNamespaceVolumeDataSource CustomCPUCFSQuotaPeriod DRAConsumableCapacity DRADeviceBindingConditions
  DRADeviceTaintRules DRADeviceTaints DRAExtendedResource DRAListTypeAttributes DRANodeAllocatableResources
  DRAPartitionableDevices DRAPrioritizedList DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization
  DRAResourcePoolStatus DRASchedulerFilterTimeout DRAWorkloadResourceClaims DeclarativeValidationBeta
  DeclarativeValidationTakeover DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency
  DisableCPUQuotaWithExclusiveCPUs EnvFiles EventedPLEG ExtendWebSocketsToKubelet GangScheduling GenericWorkload
  GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HPAScaleToZero HostnameOverride
  ImageVolumeWithDigest InOrderInformersBatchProcess InPlacePodLevelResourcesVerticalScaling
  InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory
  InPlacePodVerticalScalingInitContainers KMSv1 KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages
  KubeletInUserNamespace KubeletPodResourcesListUseActivePods KubeletRegistrationGetOnExistsOnly KubeletSeparateDiskGC
  KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot
  LocalStorageCapacityIsolationFSQuotaMonitoring LoggingAlphaOptions LoggingBetaOptions
  ManifestBasedAdmissionControlConfig MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
  MaxUnavailableStatefulSet MemoryQoS MutablePVNodeAffinity MutablePodResourcesForSuspendedJobs
  MutableSchedulingDirectivesForSuspendedJobs MutatingAdmissionPolicy NativeHistograms NodeDeclaredFeatures
  NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PLEGOnDemandRelist
  PersistentVolumeClaimUnusedSinceTime PodAndContainerStatsFromCRI PodCertificateRequest PodDeletionCost
  PodLevelResourceManagers PodLevelResources PodLogsQuerySplitStreams PodReadyToStartContainersCondition
  PodTopologyLabelsAdmission PodsAPI PortForwardWebsockets PreventStaticPodAPIReferences QOSReserved
  ReduceDefaultCrashLoopBackOffDecay RelaxedServiceNameValidation ReloadKubeletClientCAFile
  ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus ResourceHealthStatusMessage
  RestartAllContainersOnContainerExits RotateKubeletServerCertificate RuntimeClassInImageCriApi SELinuxMount
  SchedulerAsyncAPICalls SchedulerAsyncPreemption SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction
  ServiceCIDRStatusFieldWiping ShardedListAndWatch SizeBasedListCostEstimate StaleControllerConsistencyDaemonSet
  StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet
  StatefulSetSemanticRevisionComparison StorageCapacityScoring StorageNamespaceIndex StorageVersionAPI
  StorageVersionHash StorageVersionMigrator StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector
  StructuredAuthenticationConfigurationJWKSMetrics TaintTolerationComparisonOperators
  TokenRequestServiceAccountUIDValidation TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions
  TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
  UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO UserNamespacesHostNetworkSupport VolumeLimitScaling
  WatchCacheInitializationPostStartHook WatchList WatchListClient WindowsCPUAndMemoryAffinity
  WindowsGracefulNodeShutdown WindowsHostNetwork WorkloadAwarePreemption WorkloadWithJob
`)
