// The feature gates of kube-apiserver v1.36, and what they were in the releases that it can emulate.

/**
 * A line for each gate: its name, what it was in v1.31, and each release after that which changed it. A letter is the stage:
 * `a` alpha, `b` beta, `g` generally available, `d` deprecated; a capital letter is a gate that is on by default. With `!` it is
 * locked to that. `JobManagedBy a 32B 35G!`: alpha and off in v1.31, on since v1.32, locked since v1.35.
 */
export const GATE_HISTORIES = `
  APIResponseCompression B
  APIServerIdentity B
  APIServerTracing B 34G!
  APIServingWithRoutine a
  AggregatedDiscoveryRemoveBetaType g 33D 35D!
  AllowDNSOnlyNodeCSR d
  AllowInsecureKubeletCertificateSigningRequests d
  AllowOverwriteTerminationGracePeriodSeconds G 32d 35d!
  AllowParsingUserUIDFromCertAuth 33B
  AllowServiceExternalIPs G
  AllowUnsafeMalformedObjectDeletion 32a
  AnonymousAuthConfigurableEndpoints a 32B 34G!
  AnyVolumeDataSource B 33G!
  AtomicFIFO 36B
  AuthorizeNodeWithSelectors a 32B 34G!
  AuthorizePodWebsocketUpgradeCreatePermission 35B
  AuthorizeWithSelectors a 32B 34G!
  BtreeWatchCache 32B 33G!
  CBORServingAndStorage 32a
  CPUManagerPolicyAlphaOptions a
  CPUManagerPolicyBetaOptions B
  CPUManagerPolicyOptions B 33G!
  CRDObservedGenerationTracking 35b 36B
  CRDValidationRatcheting B 33G!
  CRIListStreaming 36a
  CSIServiceAccountTokenSecrets 35B 36G!
  CSIVolumeHealth a
  ChangeContainerStatusOnKubeletRestart G 35d
  ClearingNominatedNodeNameAfterBinding 34a 35B
  ClientsAllowCARotation 36B
  ClientsAllowCBOR 32a
  ClientsAllowTLSCacheGC 36B
  ClientsPreferCBOR 32a
  CloudControllerManagerWatchBasedRoutesReconciliation 35a
  CloudControllerManagerWebhook a
  ClusterTrustBundle a 33b
  ClusterTrustBundleProjection a 33b
  ComponentFlagz 32a 36B
  ComponentStatusz 32a 36B
  ConcurrentWatchObjectDecode b
  ConsistentListFromCache B 34G!
  ConstrainedImpersonation 35a 36B
  ContainerCheckpoint B
  ContainerRestartRules 34a 35B
  ContainerStopSignals 33a
  ContextualLogging B
  ControllerManagerReleaseLeaderElectionLockOnExit 36a
  CoordinatedLeaderElection a 33b
  CrossNamespaceVolumeDataSource a
  CustomCPUCFSQuotaPeriod a 36G
  CustomResourceFieldSelectors B 32G!
  DRAAdminAccess 32a 34B 36G!
  DRAConsumableCapacity 34a 36B
  DRADeviceBindingConditions 34a 36B
  DRADeviceTaintRules 35a 36b
  DRADeviceTaints 33a 36B
  DRAExtendedResource 34a 36B
  DRAListTypeAttributes 36a
  DRANodeAllocatableResources 36a
  DRAPartitionableDevices 33a 36B
  DRAPrioritizedList 33a 34B 36G
  DRAResourceClaimDeviceStatus 32a 33B
  DRAResourceClaimGranularStatusAuthorization 36B
  DRAResourcePoolStatus 36a
  DRASchedulerFilterTimeout 34B
  DRAWorkloadResourceClaims 36a
  DeclarativeValidation 33B 36G!
  DeclarativeValidationBeta 36B
  DeclarativeValidationTakeover 33b 36d
  DeploymentReplicaSetTerminatingReplicas 33a 35B
  DetectCacheInconsistency 34B
  DisableAllocatorDualWrite a 33b 34G 35G!
  DisableCPUQuotaWithExclusiveCPUs 33B 36D
  DisableNodeKubeProxyVersion d 33D 36D!
  DynamicResourceAllocation a 32b 34G 35G!
  EnvFiles 34a 35B
  EventedPLEG a
  ExecProbeTimeout G 35G!
  ExtendWebSocketsToKubelet 36B
  ExternalServiceAccountTokenSigner 32a 34B 36G!
  GangScheduling 35a
  GenericWorkload 35a
  GitRepoVolumeDriver G 33d 36d!
  GracefulNodeShutdown B
  GracefulNodeShutdownBasedOnPodPriority B
  HPAConfigurableTolerance 33a 35B
  HPAScaleToZero a
  HostnameOverride 34a 35B
  ImageMaximumGCAge B 35G!
  ImageVolume a 33b 35B 36G!
  ImageVolumeWithDigest 35a
  InOrderInformers 33B 36G!
  InOrderInformersBatchProcess 35B
  InPlacePodLevelResourcesVerticalScaling 35a 36B
  InPlacePodVerticalScaling a 33B 35G!
  InPlacePodVerticalScalingExclusiveCPUs 32a
  InPlacePodVerticalScalingExclusiveMemory 34a
  InPlacePodVerticalScalingInitContainers 36B
  InformerResourceVersion a 35G
  JobBackoffLimitPerIndex B 33G!
  JobManagedBy a 32B 35G!
  JobPodReplacementPolicy B 34G!
  JobSuccessPolicy B 33G!
  KMSv1 d
  KubeletCgroupDriverFromCRI B 34G!
  KubeletCrashLoopBackOffMax 32a 35B
  KubeletEnsureSecretPulledImages 33a 35B
  KubeletFineGrainedAuthz 32a 33B 36G!
  KubeletInUserNamespace a
  KubeletPSI 33a 34B 36G!
  KubeletPodResourcesDynamicResources a 34B 36G!
  KubeletPodResourcesGet a 34B 36G!
  KubeletPodResourcesListUseActivePods g 34D
  KubeletRegistrationGetOnExistsOnly G 32d
  KubeletSeparateDiskGC B
  KubeletServiceAccountTokenForCredentialProviders 33a 34B
  KubeletTracing B 34G!
  ListFromCacheSnapshot 33a 34B
  LocalStorageCapacityIsolationFSQuotaMonitoring b
  LogarithmicScaleDown G!
  LoggingAlphaOptions a
  LoggingBetaOptions B
  ManifestBasedAdmissionControlConfig 36a
  MatchLabelKeysInPodAffinity B 33G!
  MatchLabelKeysInPodTopologySpread B
  MatchLabelKeysInPodTopologySpreadSelectorMerge 34B
  MaxUnavailableStatefulSet a 35b
  MemoryQoS a
  MultiCIDRServiceAllocator b 33G 34G!
  MutableCSINodeAllocatableCount 33a 34b 35B 36G!
  MutablePVNodeAffinity 35a
  MutablePodResourcesForSuspendedJobs 35a 36B
  MutableSchedulingDirectivesForSuspendedJobs 35a 36B
  MutatingAdmissionPolicy 32a 34b 36G
  NFTablesProxyMode B 33G!
  NativeHistograms 36a
  NodeDeclaredFeatures 35a 36B
  NodeInclusionPolicyInPodTopologySpread B 33G!
  NodeLogQuery b 36G!
  NodeSwap B 34G!
  NominatedNodeNameForExpectation 34a 35B
  OpenAPIEnums B
  OpportunisticBatching 35B
  OrderedNamespaceDeletion b 33B 34G!
  PLEGOnDemandRelist 36B
  PersistentVolumeClaimUnusedSinceTime 36a
  PodAndContainerStatsFromCRI a
  PodCertificateRequest 34a 35b
  PodDeletionCost B
  PodLevelResourceManagers 36a
  PodLevelResources 32a 34B
  PodLifecycleSleepAction B 34G!
  PodLifecycleSleepActionAllowZero 32a 33B 34G!
  PodLogsQuerySplitStreams 32a
  PodObservedGenerationTracking 33a 34B 35G!
  PodReadyToStartContainersCondition B
  PodSchedulingReadiness G!
  PodTopologyLabelsAdmission 33a 35B
  PodsAPI 36a
  PortForwardWebsockets B
  PreferSameTrafficDistribution 33a 34B 35G!
  PreventStaticPodAPIReferences 34B
  ProcMountType b 33B 36G!
  QOSReserved a
  RecoverVolumeExpansionFailure a 32B 34G!
  RecursiveReadOnlyMounts B 33G!
  ReduceDefaultCrashLoopBackOffDecay 33a
  RelaxedDNSSearchValidation 32a 33B 34G!
  RelaxedEnvironmentVariableValidation a 32B 34G!
  RelaxedServiceNameValidation 34a 36B
  ReloadKubeletClientCAFile 36B
  ReloadKubeletServerCertificateFile B
  RemoteRequestHeaderUID 32a 33B
  ResilientWatchCacheInitialization B 34G!
  ResourceHealthStatus a 36B
  ResourceHealthStatusMessage 36B
  RestartAllContainersOnContainerExits 35a 36B
  RetryGenerateName B 32G!
  RotateKubeletServerCertificate B
  RuntimeClassInImageCriApi a
  SELinuxChangePolicy 32a 33B 36G!
  SELinuxMount a 33b
  SELinuxMountReadWriteOncePod B 36G!
  SchedulerAsyncAPICalls 34b
  SchedulerAsyncPreemption 32a 33B
  SchedulerPopFromBackoffQ 33B
  SchedulerQueueingHints b 32B 34G!
  SeparateCacheWatchRPC B 33d 36d!
  SeparateTaintEvictionController B 34G!
  ServiceAccountNodeAudienceRestriction 32b 33B
  ServiceAccountTokenJTI B 32G!
  ServiceAccountTokenNodeBinding B 33G!
  ServiceAccountTokenNodeBindingValidation B 32G!
  ServiceAccountTokenPodNodeInfo B 32G!
  ServiceCIDRStatusFieldWiping g 36D
  ShardedListAndWatch 36a
  SidecarContainers B 33G!
  SizeBasedListCostEstimate 34B
  StaleControllerConsistencyDaemonSet 36B
  StaleControllerConsistencyJob 36B
  StaleControllerConsistencyReplicaSet 36B
  StaleControllerConsistencyStatefulSet 36B
  StatefulSetSemanticRevisionComparison B
  StorageCapacityScoring 33a
  StorageNamespaceIndex B 33D
  StorageVersionAPI a
  StorageVersionHash B
  StorageVersionMigrator a 35b
  StreamingCollectionEncodingToJSON 33B 34G!
  StreamingCollectionEncodingToProtobuf 33B 34G!
  StrictIPCIDRValidation 33a 36B
  StructuredAuthenticationConfiguration B 34G!
  StructuredAuthenticationConfigurationEgressSelector 34B
  StructuredAuthenticationConfigurationJWKSMetrics 35B
  SupplementalGroupsPolicy a 33B 35G!
  SystemdWatchdog 32B 35G!
  TaintTolerationComparisonOperators 35a
  TokenRequestServiceAccountUIDValidation 34B
  TopologyAwareWorkloadScheduling 36a
  TopologyManagerPolicyAlphaOptions a
  TopologyManagerPolicyBetaOptions B
  TopologyManagerPolicyOptions B 32G!
  TranslateStreamCloseWebsocketRequests B
  UnauthenticatedHTTP2DOSMitigation B
  UnknownVersionInteroperabilityProxy a 36B
  UnlockWhileProcessingFIFO 36B
  UserNamespacesHostNetworkSupport 35a
  UserNamespacesSupport b 33B 36G!
  VolumeAttributesClass b 34G 36G!
  VolumeLimitScaling 35a
  WatchCacheInitializationPostStartHook b 36B
  WatchList a 32B 33b 34B
  WatchListClient b 35B
  WinDSR a 33B 34G!
  WinOverlay B 34G!
  WindowsCPUAndMemoryAffinity 32a
  WindowsGracefulNodeShutdown 32a 34B
  WindowsHostNetwork a 33d
  WorkloadAwarePreemption 36a
  WorkloadWithJob 36a
`

/** The gates that a gate needs. */
export const DEPENDENCIES: Readonly<Record<string, string>> = {
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
