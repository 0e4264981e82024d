// Go's names for the types of fields, which messages about values of a wrong type contain. They follow from the types
// in the table, except for strings and maps with a Go type of their own.
import type { Type } from '../type.js'

/** The Go name of the type of a field: `[]v1.Container`, `map[string]string`, `v1.Protocol`. */
export function goNameOfField(type: Type, declaredBy: string, field: string): string {
  const own = ownType(declaredBy, field)
  switch (type.kind) {
    case 'list':
      return OWN_LISTS[`${declaredBy} ${field}`] ?? `[]${goNameOfField(type.element!, declaredBy, field)}`
    case 'map':
      return own ?? (isResourceList(type, declaredBy) ? 'v1.ResourceList' : goNameOf(type))
    default:
      return own ?? goNameOf(type)
  }
}

/** Earlier versions of a kind have the types of v1 under the name of their own package. */
function ownType(declaredBy: string, field: string): string | undefined {
  const own = OWN_TYPES[`${declaredBy} ${field}`]
  const [, group, version, name] = own === undefined ? (/^(.*)\/(v1[a-z]+\d+)\.(.*)$/.exec(declaredBy) ?? []) : []
  if (version === undefined) return own
  return OWN_TYPES[`${group}/v1.${name} ${field}`]?.replace(/\bv1\.(?!ResourceName)/g, `${version}.`)
}

/** The Go name of a type without a field around it. */
export function goNameOf(type: Type): string {
  switch (type.kind) {
    case 'list':
      return `[]${goNameOf(type.element!)}`
    case 'map':
      return `map[string]${goNameOf(type.element!)}`
    case 'bytes':
      return '[]uint8'
    case 'object':
    case 'special':
      // The last part of the package's path: core/v1.Container is v1.Container.
      return type.name.slice(type.name.indexOf('/') + 1)
    case 'any':
      return 'interface {}'
    default:
      return type.kind
  }
}

const isResourceList = (type: Type, declaredBy: string): boolean =>
  type.element?.name === 'api/resource.Quantity' && /^(core|node)\//.test(declaredBy)

/** By declaring type and field, the lists that have a Go type of their own. */
const OWN_LISTS: Readonly<Record<string, string>> = {
  'apiextensions/v1.JSONSchemaProps x-kubernetes-validations': 'v1.ValidationRules',
  'meta/v1.APIResource verbs': 'v1.Verbs',
}

/** By declaring type and field, the Go type of a string (or of the strings in a list) or of a map. */
const OWN_TYPES: Readonly<Record<string, string>> = {
  'meta/v1.ObjectMeta uid': 'types.UID',
  'meta/v1.OwnerReference uid': 'types.UID',
  'meta/v1.Preconditions uid': 'types.UID',
  'meta/v1.StatusDetails uid': 'types.UID',
  'meta/v1.Status reason': 'v1.StatusReason',
  'meta/v1.StatusCause reason': 'v1.CauseType',
  'meta/v1.DeleteOptions propagationPolicy': 'v1.DeletionPropagation',
  'meta/v1.LabelSelectorRequirement operator': 'v1.LabelSelectorOperator',
  'meta/v1.FieldSelectorRequirement operator': 'v1.FieldSelectorOperator',
  'meta/v1.ManagedFieldsEntry operation': 'v1.ManagedFieldsOperationType',
  'meta/v1.Condition status': 'v1.ConditionStatus',
  'core/v1.ObjectReference uid': 'types.UID',
  'core/v1.Secret type': 'v1.SecretType',
  'core/v1.NamespaceSpec finalizers': 'v1.FinalizerName',
  'core/v1.NamespaceStatus phase': 'v1.NamespacePhase',
  'core/v1.NamespaceCondition type': 'v1.NamespaceConditionType',
  'core/v1.NamespaceCondition status': 'v1.ConditionStatus',
  'core/v1.ServiceSpec type': 'v1.ServiceType',
  'core/v1.ServiceSpec sessionAffinity': 'v1.ServiceAffinity',
  'core/v1.ServiceSpec externalTrafficPolicy': 'v1.ServiceExternalTrafficPolicy',
  'core/v1.ServiceSpec internalTrafficPolicy': 'v1.ServiceInternalTrafficPolicy',
  'core/v1.ServiceSpec ipFamilies': 'v1.IPFamily',
  'core/v1.ServiceSpec ipFamilyPolicy': 'v1.IPFamilyPolicy',
  'core/v1.ServicePort protocol': 'v1.Protocol',
  'core/v1.LoadBalancerIngress ipMode': 'v1.LoadBalancerIPMode',
  'core/v1.PortStatus protocol': 'v1.Protocol',
  'core/v1.EndpointPort protocol': 'v1.Protocol',
  'core/v1.ContainerPort protocol': 'v1.Protocol',
  'core/v1.Container restartPolicy': 'v1.ContainerRestartPolicy',
  'core/v1.Container terminationMessagePolicy': 'v1.TerminationMessagePolicy',
  'core/v1.Container imagePullPolicy': 'v1.PullPolicy',
  'core/v1.EphemeralContainerCommon restartPolicy': 'v1.ContainerRestartPolicy',
  'core/v1.EphemeralContainerCommon terminationMessagePolicy': 'v1.TerminationMessagePolicy',
  'core/v1.EphemeralContainerCommon imagePullPolicy': 'v1.PullPolicy',
  'core/v1.HTTPGetAction scheme': 'v1.URIScheme',
  'core/v1.Capabilities add': 'v1.Capability',
  'core/v1.Capabilities drop': 'v1.Capability',
  'core/v1.SecurityContext procMount': 'v1.ProcMountType',
  'core/v1.SeccompProfile type': 'v1.SeccompProfileType',
  'core/v1.AppArmorProfile type': 'v1.AppArmorProfileType',
  'core/v1.PodSecurityContext fsGroupChangePolicy': 'v1.PodFSGroupChangePolicy',
  'core/v1.PodSecurityContext supplementalGroupsPolicy': 'v1.SupplementalGroupsPolicy',
  'core/v1.PodSecurityContext seLinuxChangePolicy': 'v1.PodSELinuxChangePolicy',
  'core/v1.PodSpec restartPolicy': 'v1.RestartPolicy',
  'core/v1.PodSpec dnsPolicy': 'v1.DNSPolicy',
  'core/v1.PodSpec preemptionPolicy': 'v1.PreemptionPolicy',
  'core/v1.PodOS name': 'v1.OSName',
  'core/v1.PodReadinessGate conditionType': 'v1.PodConditionType',
  'core/v1.PodStatus phase': 'v1.PodPhase',
  'core/v1.PodStatus qosClass': 'v1.PodQOSClass',
  'core/v1.PodStatus resize': 'v1.PodResizeStatus',
  'core/v1.PodCondition type': 'v1.PodConditionType',
  'core/v1.PodCondition status': 'v1.ConditionStatus',
  'core/v1.Toleration operator': 'v1.TolerationOperator',
  'core/v1.Toleration effect': 'v1.TaintEffect',
  'core/v1.Taint effect': 'v1.TaintEffect',
  'core/v1.NodeSelectorRequirement operator': 'v1.NodeSelectorOperator',
  'core/v1.TopologySpreadConstraint whenUnsatisfiable': 'v1.UnsatisfiableConstraintAction',
  'core/v1.TopologySpreadConstraint nodeAffinityPolicy': 'v1.NodeInclusionPolicy',
  'core/v1.TopologySpreadConstraint nodeTaintsPolicy': 'v1.NodeInclusionPolicy',
  'core/v1.EmptyDirVolumeSource medium': 'v1.StorageMedium',
  'core/v1.HostPathVolumeSource type': 'v1.HostPathType',
  'core/v1.VolumeMount mountPropagation': 'v1.MountPropagationMode',
  'core/v1.VolumeMount recursiveReadOnly': 'v1.RecursiveReadOnlyMode',
  'core/v1.ContainerResizePolicy resourceName': 'v1.ResourceName',
  'core/v1.ContainerResizePolicy restartPolicy': 'v1.ResourceResizeRestartPolicy',
  'core/v1.NodeStatus phase': 'v1.NodePhase',
  'core/v1.NodeStatus volumesInUse': 'v1.UniqueVolumeName',
  'core/v1.NodeCondition type': 'v1.NodeConditionType',
  'core/v1.NodeCondition status': 'v1.ConditionStatus',
  'core/v1.NodeAddress type': 'v1.NodeAddressType',
  'core/v1.AttachedVolume name': 'v1.UniqueVolumeName',
  'core/v1.PersistentVolumeClaimSpec accessModes': 'v1.PersistentVolumeAccessMode',
  'core/v1.PersistentVolumeClaimSpec volumeMode': 'v1.PersistentVolumeMode',
  'core/v1.PersistentVolumeSpec accessModes': 'v1.PersistentVolumeAccessMode',
  'core/v1.PersistentVolumeSpec volumeMode': 'v1.PersistentVolumeMode',
  'core/v1.PersistentVolumeSpec persistentVolumeReclaimPolicy': 'v1.PersistentVolumeReclaimPolicy',
  'core/v1.LimitRangeItem type': 'v1.LimitType',
  'core/v1.ResourceQuotaSpec scopes': 'v1.ResourceQuotaScope',
  'apps/v1.DeploymentStrategy type': 'v1.DeploymentStrategyType',
  'apps/v1.DeploymentCondition type': 'v1.DeploymentConditionType',
  'apps/v1.DeploymentCondition status': 'v1.ConditionStatus',
  'apps/v1.ReplicaSetCondition type': 'v1.ReplicaSetConditionType',
  'apps/v1.ReplicaSetCondition status': 'v1.ConditionStatus',
  'apps/v1.StatefulSetSpec podManagementPolicy': 'v1.PodManagementPolicyType',
  'apps/v1.StatefulSetUpdateStrategy type': 'v1.StatefulSetUpdateStrategyType',
  'apps/v1.DaemonSetUpdateStrategy type': 'v1.DaemonSetUpdateStrategyType',
  'batch/v1.JobSpec completionMode': 'v1.CompletionMode',
  'batch/v1.JobSpec podReplacementPolicy': 'v1.PodReplacementPolicy',
  'batch/v1.CronJobSpec concurrencyPolicy': 'v1.ConcurrencyPolicy',
  'coordination/v1.LeaseSpec strategy': 'v1.CoordinatedLeaseStrategy',
  'discovery/v1.EndpointSlice addressType': 'v1.AddressType',
  'discovery/v1.EndpointPort protocol': 'v1.Protocol',
  'networking/v1.HTTPIngressPath pathType': 'v1.PathType',
  'networking/v1.NetworkPolicyPort protocol': 'v1.Protocol',
  'networking/v1.NetworkPolicySpec policyTypes': 'v1.PolicyType',
  'scheduling/v1.PriorityClass preemptionPolicy': 'v1.PreemptionPolicy',
  'storage/v1.StorageClass reclaimPolicy': 'v1.PersistentVolumeReclaimPolicy',
  'storage/v1.StorageClass volumeBindingMode': 'v1.VolumeBindingMode',
  'storage/v1.StorageClass parameters': 'map[string]string',
  'admissionregistration/v1.ValidatingAdmissionPolicyBindingSpec validationActions': 'v1.ValidationAction',
  'admissionregistration/v1.ValidatingAdmissionPolicySpec failurePolicy': 'v1.FailurePolicyType',
  'admissionregistration/v1.MutatingAdmissionPolicySpec failurePolicy': 'v1.FailurePolicyType',
  'admissionregistration/v1.ValidatingWebhook failurePolicy': 'v1.FailurePolicyType',
  'admissionregistration/v1.MutatingWebhook failurePolicy': 'v1.FailurePolicyType',
  'admissionregistration/v1.ValidatingWebhook matchPolicy': 'v1.MatchPolicyType',
  'admissionregistration/v1.MutatingWebhook matchPolicy': 'v1.MatchPolicyType',
  'admissionregistration/v1.MatchResources matchPolicy': 'v1.MatchPolicyType',
  'admissionregistration/v1.ValidatingWebhook sideEffects': 'v1.SideEffectClass',
  'admissionregistration/v1.MutatingWebhook sideEffects': 'v1.SideEffectClass',
  'admissionregistration/v1.MutatingWebhook reinvocationPolicy': 'v1.ReinvocationPolicyType',
  'admissionregistration/v1.MutatingAdmissionPolicySpec reinvocationPolicy': 'v1.ReinvocationPolicyType',
  'admissionregistration/v1.RuleWithOperations operations': 'v1.OperationType',
  'admissionregistration/v1.Rule scope': 'v1.ScopeType',
  'admissionregistration/v1.Mutation patchType': 'v1.PatchType',
  'admissionregistration/v1.ParamRef parameterNotFoundAction': 'v1.ParameterNotFoundActionType',
  'admissionregistration/v1.Validation reason': 'v1.StatusReason',
  'apiextensions/v1.CustomResourceDefinitionSpec scope': 'v1.ResourceScope',
  'apiextensions/v1.CustomResourceConversion strategy': 'v1.ConversionStrategyType',
  'apiextensions/v1.ValidationRule reason': 'v1.FieldValueErrorReason',
  'apiextensions/v1.JSONSchemaProps $schema': 'v1.JSONSchemaURL',
  'apiextensions/v1.ConversionRequest uid': 'types.UID',
  'apiextensions/v1.ConversionResponse uid': 'types.UID',
  'apiextensions/v1.CustomResourceDefinitionCondition status': 'v1.ConditionStatus',
  'apiextensions/v1.CustomResourceDefinitionCondition type': 'v1.CustomResourceDefinitionConditionType',
  'apiregistration/v1.APIServiceCondition status': 'v1.ConditionStatus',
  'apiregistration/v1.APIServiceCondition type': 'v1.APIServiceConditionType',
  'apps/v1.DaemonSetCondition status': 'v1.ConditionStatus',
  'apps/v1.DaemonSetCondition type': 'v1.DaemonSetConditionType',
  'apps/v1.StatefulSetCondition status': 'v1.ConditionStatus',
  'apps/v1.StatefulSetCondition type': 'v1.StatefulSetConditionType',
  'apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted': 'v1.PersistentVolumeClaimRetentionPolicyType',
  'apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy whenScaled': 'v1.PersistentVolumeClaimRetentionPolicyType',
  'authentication/v1.BoundObjectReference uid': 'types.UID',
  'autoscaling/v2.ContainerResourceMetricSource name': 'v1.ResourceName',
  'autoscaling/v2.ContainerResourceMetricStatus name': 'v1.ResourceName',
  'autoscaling/v2.HPAScalingPolicy type': 'v2.HPAScalingPolicyType',
  'autoscaling/v2.HPAScalingRules selectPolicy': 'v2.ScalingPolicySelect',
  'autoscaling/v2.HorizontalPodAutoscalerCondition status': 'v1.ConditionStatus',
  'autoscaling/v2.HorizontalPodAutoscalerCondition type': 'v2.HorizontalPodAutoscalerConditionType',
  'autoscaling/v2.MetricSpec type': 'v2.MetricSourceType',
  'autoscaling/v2.MetricStatus type': 'v2.MetricSourceType',
  'autoscaling/v2.MetricTarget type': 'v2.MetricTargetType',
  'autoscaling/v2.ResourceMetricSource name': 'v1.ResourceName',
  'autoscaling/v2.ResourceMetricStatus name': 'v1.ResourceName',
  'batch/v1.JobCondition status': 'v1.ConditionStatus',
  'batch/v1.JobCondition type': 'v1.JobConditionType',
  'batch/v1.PodFailurePolicyOnExitCodesRequirement operator': 'v1.PodFailurePolicyOnExitCodesOperator',
  'batch/v1.PodFailurePolicyOnPodConditionsPattern status': 'v1.ConditionStatus',
  'batch/v1.PodFailurePolicyOnPodConditionsPattern type': 'v1.PodConditionType',
  'batch/v1.PodFailurePolicyRule action': 'v1.PodFailurePolicyAction',
  'batch/v1.UncountedTerminatedPods failed': 'types.UID',
  'batch/v1.UncountedTerminatedPods succeeded': 'types.UID',
  'certificates/v1.CertificateSigningRequestCondition status': 'v1.ConditionStatus',
  'certificates/v1.CertificateSigningRequestCondition type': 'v1.RequestConditionType',
  'certificates/v1.CertificateSigningRequestSpec usages': 'v1.KeyUsage',
  'core/v1.AzureDiskVolumeSource cachingMode': 'v1.AzureDataDiskCachingMode',
  'core/v1.AzureDiskVolumeSource kind': 'v1.AzureDataDiskKind',
  'core/v1.ComponentCondition status': 'v1.ConditionStatus',
  'core/v1.ComponentCondition type': 'v1.ComponentConditionType',
  'core/v1.ConfigMapNodeConfigSource uid': 'types.UID',
  'core/v1.ContainerRestartRule action': 'v1.ContainerRestartRuleAction',
  'core/v1.ContainerRestartRuleOnExitCodes operator': 'v1.ContainerRestartRuleOnExitCodesOperator',
  'core/v1.ContainerStatus stopSignal': 'v1.Signal',
  'core/v1.ImageVolumeSource pullPolicy': 'v1.PullPolicy',
  'core/v1.Lifecycle stopSignal': 'v1.Signal',
  'core/v1.ModifyVolumeStatus status': 'v1.PersistentVolumeClaimModifyVolumeStatus',
  'core/v1.PersistentVolumeClaimCondition status': 'v1.ConditionStatus',
  'core/v1.PersistentVolumeClaimCondition type': 'v1.PersistentVolumeClaimConditionType',
  'core/v1.PersistentVolumeClaimStatus accessModes': 'v1.PersistentVolumeAccessMode',
  'core/v1.PersistentVolumeClaimStatus phase': 'v1.PersistentVolumeClaimPhase',
  'core/v1.PersistentVolumeStatus phase': 'v1.PersistentVolumePhase',
  'core/v1.ReplicationControllerCondition status': 'v1.ConditionStatus',
  'core/v1.ReplicationControllerCondition type': 'v1.ReplicationControllerConditionType',
  'core/v1.ResourceHealth health': 'v1.ResourceHealthStatus',
  'core/v1.ResourceHealth resourceID': 'v1.ResourceID',
  'core/v1.ResourceStatus name': 'v1.ResourceName',
  'core/v1.ScopedResourceSelectorRequirement operator': 'v1.ScopeSelectorOperator',
  'core/v1.ScopedResourceSelectorRequirement scopeName': 'v1.ResourceQuotaScope',
  'core/v1.VolumeMountStatus recursiveReadOnly': 'v1.RecursiveReadOnlyMode',
  'flowcontrol/v1.FlowDistinguisherMethod type': 'v1.FlowDistinguisherMethodType',
  'flowcontrol/v1.FlowSchemaCondition status': 'v1.ConditionStatus',
  'flowcontrol/v1.FlowSchemaCondition type': 'v1.FlowSchemaConditionType',
  'flowcontrol/v1.LimitResponse type': 'v1.LimitResponseType',
  'flowcontrol/v1.PriorityLevelConfigurationCondition status': 'v1.ConditionStatus',
  'flowcontrol/v1.PriorityLevelConfigurationCondition type': 'v1.PriorityLevelConfigurationConditionType',
  'flowcontrol/v1.PriorityLevelConfigurationSpec type': 'v1.PriorityLevelEnablement',
  'flowcontrol/v1.Subject kind': 'v1.SubjectKind',
  'meta/v1.ListOptions resourceVersionMatch': 'v1.ResourceVersionMatch',
  'networking/v1.IngressPortStatus protocol': 'v1.Protocol',
  'policy/v1.PodDisruptionBudgetSpec unhealthyPodEvictionPolicy': 'v1.UnhealthyPodEvictionPolicyType',
  'resource/v1.DeviceAllocationConfiguration source': 'v1.AllocationConfigSource',
  'resource/v1.DeviceConstraint distinctAttribute': 'v1.FullyQualifiedName',
  'resource/v1.DeviceConstraint matchAttribute': 'v1.FullyQualifiedName',
  'resource/v1.DeviceRequestAllocationResult shareID': 'types.UID',
  'resource/v1.DeviceSubRequest allocationMode': 'v1.DeviceAllocationMode',
  'resource/v1.DeviceTaint effect': 'v1.DeviceTaintEffect',
  'resource/v1.DeviceToleration effect': 'v1.DeviceTaintEffect',
  'resource/v1.DeviceToleration operator': 'v1.DeviceTolerationOperator',
  'resource/v1.ExactDeviceRequest allocationMode': 'v1.DeviceAllocationMode',
  'resource/v1.NodeAllocatableResourceMapping capacityKey': 'v1.QualifiedName',
  'resource/v1.ResourceClaimConsumerReference uid': 'types.UID',
  'storage/v1.CSIDriverSpec fsGroupPolicy': 'v1.FSGroupPolicy',
  'storage/v1.CSIDriverSpec volumeLifecycleModes': 'v1.VolumeLifecycleMode',
  'apiextensions/v1.JSONSchemaProps definitions': 'v1.JSONSchemaDefinitions',
  'apiextensions/v1.JSONSchemaProps dependencies': 'v1.JSONSchemaDependencies',
  'apiextensions/v1beta1.CustomResourceDefinitionSpec scope': 'v1beta1.ResourceScope',
  'apiserverinternal/v1alpha1.StorageVersionCondition status': 'v1alpha1.ConditionStatus',
  'apiserverinternal/v1alpha1.StorageVersionCondition type': 'v1alpha1.StorageVersionConditionType',
  'authentication/v1.UserInfo extra': 'map[string]v1.ExtraValue',
  'authorization/v1.SubjectAccessReviewSpec extra': 'map[string]v1.ExtraValue',
  'certificates/v1.CertificateSigningRequestSpec extra': 'map[string]v1.ExtraValue',
  'coordination/v1alpha2.LeaseCandidateSpec strategy': 'v1.CoordinatedLeaseStrategy',
  'coordination/v1beta1.LeaseCandidateSpec strategy': 'v1.CoordinatedLeaseStrategy',
  'core/v1.NodeAllocatableResourceClaimStatus resources': 'map[v1.ResourceName]resource.Quantity',
  'core/v1.PersistentVolumeClaimStatus allocatedResourceStatuses': 'map[v1.ResourceName]v1.ClaimResourceStatus',
  'resource/v1.CapacityRequirements requests': 'map[v1.QualifiedName]resource.Quantity',
  'resource/v1.Device attributes': 'map[v1.QualifiedName]v1.DeviceAttribute',
  'resource/v1.Device capacity': 'map[v1.QualifiedName]v1.DeviceCapacity',
  'resource/v1.Device nodeAllocatableResourceMappings': 'map[v1.ResourceName]v1.NodeAllocatableResourceMapping',
  'resource/v1.DeviceRequestAllocationResult consumedCapacity': 'map[v1.QualifiedName]resource.Quantity',
}
