// The built-in kinds that workloads consist of, as far as their controllers read them. The types of the members were
// checked when an object was written; defaults are there.
import type { ObjectMeta } from '../../meta/object/object-meta.js'
import type { LabelSelectorObject, Labels } from '../../meta/selectors/label-selectors.js'
import type { IntOrString } from '../../meta/values/int-or-string.js'

/** Decoded exactly: a bigint where it is no safe integer. */
export type Int64 = number | bigint

export interface WorkloadObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Meta
}

/** The metadata of a stored object. */
export interface Meta extends ObjectMeta {
  readonly name: string
  readonly uid: string
  readonly creationTimestamp: string
  readonly resourceVersion: string
}

export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
  readonly lastUpdateTime?: string
  readonly lastHeartbeatTime?: string
  readonly lastProbeTime?: string | null
  readonly observedGeneration?: number
}

// ---- pods

export interface PodTemplate {
  readonly metadata?: ObjectMeta
  readonly spec: PodSpec
}

export interface PodSpec {
  readonly nodeName?: string
  readonly nodeSelector?: Labels
  readonly affinity?: Affinity
  readonly tolerations?: readonly Toleration[]
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly ephemeralContainers?: readonly Container[]
  readonly restartPolicy?: string
  readonly terminationGracePeriodSeconds?: Int64
  readonly activeDeadlineSeconds?: Int64
  readonly readinessGates?: readonly { readonly conditionType: string }[]
  readonly schedulingGates?: readonly { readonly name: string }[]
  readonly schedulerName?: string
  readonly hostNetwork?: boolean
  readonly hostname?: string
  readonly subdomain?: string
  readonly priority?: number
  readonly priorityClassName?: string
  readonly preemptionPolicy?: string
  readonly overhead?: Resources
  readonly volumes?: readonly PodVolume[]
  readonly topologySpreadConstraints?: readonly TopologySpread[]
}

export interface TopologySpread {
  readonly maxSkew: number
  readonly topologyKey: string
  readonly whenUnsatisfiable: string
  readonly labelSelector?: LabelSelectorObject
}

export interface PodVolume {
  readonly name: string
  readonly persistentVolumeClaim?: { readonly claimName: string }
  readonly ephemeral?: { readonly volumeClaimTemplate: { readonly metadata?: ObjectMeta; readonly spec: ClaimSpec } }
}

export type Resources = Readonly<Record<string, string>>

export interface Container {
  readonly name: string
  readonly image?: string
  readonly restartPolicy?: string
  readonly resources?: { readonly requests?: Resources; readonly limits?: Resources }
  readonly ports?: readonly ContainerPort[]
}

export interface ContainerPort {
  readonly name?: string
  readonly containerPort: number
  readonly hostPort?: number
  readonly hostIP?: string
  readonly protocol?: string
}

export interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
  readonly tolerationSeconds?: Int64
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeRequirement[]
  readonly matchFields?: readonly NodeRequirement[]
}

export interface NodeRequirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelectorObject
  readonly namespaces?: readonly string[]
  readonly topologyKey: string
}

export interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      readonly nodeSelectorTerms: readonly NodeSelectorTerm[]
    }
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
      readonly weight: number
      readonly preference: NodeSelectorTerm
    }[]
  }
  readonly podAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[]
  }
  readonly podAntiAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[]
  }
}

export interface Pod extends WorkloadObject {
  readonly spec: PodSpec
  readonly status?: PodStatus
}

export interface PodStatus {
  readonly phase?: string
  readonly conditions?: readonly Condition[]
  readonly reason?: string
  readonly message?: string
  readonly startTime?: string
  readonly hostIP?: string
  readonly hostIPs?: readonly { readonly ip: string }[]
  readonly podIP?: string
  readonly podIPs?: readonly { readonly ip: string }[]
  readonly containerStatuses?: readonly ContainerStatus[]
  readonly initContainerStatuses?: readonly ContainerStatus[]
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[]
  readonly observedGeneration?: number
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string }
  readonly running?: { readonly startedAt?: string }
  readonly terminated?: Terminated
}

export interface Terminated {
  readonly exitCode: number
  readonly reason?: string
  readonly message?: string
  readonly startedAt?: string
  readonly finishedAt?: string
  readonly containerID?: string
}

export interface ContainerStatus {
  readonly name: string
  readonly state?: ContainerState
  readonly lastState?: ContainerState
  readonly ready: boolean
  readonly started?: boolean
  readonly restartCount: number
  readonly image: string
  readonly imageID: string
  readonly containerID?: string
}

// ---- nodes

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
  readonly timeAdded?: string
}

export interface Node extends WorkloadObject {
  readonly spec: { readonly taints?: readonly Taint[]; readonly unschedulable?: boolean; readonly podCIDR?: string }
  readonly status?: {
    readonly capacity?: Resources
    readonly allocatable?: Resources
    readonly conditions?: readonly Condition[]
    readonly addresses?: readonly { readonly type: string; readonly address: string }[]
  }
}

export interface Lease extends WorkloadObject {
  readonly spec: {
    readonly renewTime?: string
    readonly leaseDurationSeconds?: number
    readonly holderIdentity?: string
  }
}

// ---- workloads

export interface ReplicaSetSpec {
  readonly replicas?: number
  readonly selector?: LabelSelectorObject
  readonly template: PodTemplate
  readonly minReadySeconds?: number
}

export interface ReplicaSetStatus {
  readonly replicas: number
  readonly fullyLabeledReplicas?: number
  readonly readyReplicas?: number
  readonly availableReplicas?: number
  readonly terminatingReplicas?: number
  readonly observedGeneration?: number
  readonly conditions?: readonly Condition[]
}

/** A ReplicaSet, or a ReplicationController with its selector in the form of a ReplicaSet. */
export interface ReplicaSet extends WorkloadObject {
  readonly spec: ReplicaSetSpec
  readonly status: ReplicaSetStatus
}

export interface RollingUpdate {
  readonly maxSurge?: IntOrString
  readonly maxUnavailable?: IntOrString
  readonly partition?: number
}

export interface Deployment extends WorkloadObject {
  readonly spec: ReplicaSetSpec & {
    readonly strategy?: { readonly type?: string; readonly rollingUpdate?: RollingUpdate }
    readonly revisionHistoryLimit?: number
    readonly paused?: boolean
    readonly progressDeadlineSeconds?: number
  }
  readonly status: ReplicaSetStatus & {
    readonly updatedReplicas?: number
    readonly unavailableReplicas?: number
    readonly collisionCount?: number
  }
}

export interface StatefulSet extends WorkloadObject {
  readonly spec: ReplicaSetSpec & {
    readonly serviceName?: string
    readonly podManagementPolicy?: string
    readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: RollingUpdate }
    readonly revisionHistoryLimit?: number
    readonly volumeClaimTemplates?: readonly { readonly metadata: ObjectMeta; readonly spec: ClaimSpec }[]
    readonly ordinals?: { readonly start?: number }
    readonly persistentVolumeClaimRetentionPolicy?: { readonly whenDeleted?: string; readonly whenScaled?: string }
  }
  readonly status: {
    readonly observedGeneration?: number
    readonly replicas: number
    readonly readyReplicas?: number
    readonly currentReplicas?: number
    readonly updatedReplicas?: number
    readonly availableReplicas?: number
    readonly currentRevision?: string
    readonly updateRevision?: string
    readonly collisionCount?: number
    readonly conditions?: readonly Condition[]
  }
}

export interface DaemonSet extends WorkloadObject {
  readonly spec: {
    readonly selector?: LabelSelectorObject
    readonly template: PodTemplate
    readonly minReadySeconds?: number
    readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: RollingUpdate }
    readonly revisionHistoryLimit?: number
  }
  readonly status: {
    readonly currentNumberScheduled: number
    readonly numberMisscheduled: number
    readonly desiredNumberScheduled: number
    readonly numberReady: number
    readonly observedGeneration?: number
    readonly updatedNumberScheduled?: number
    readonly numberAvailable?: number
    readonly numberUnavailable?: number
    readonly collisionCount?: number
    readonly conditions?: readonly Condition[]
  }
}

export interface ControllerRevision extends WorkloadObject {
  readonly revision: number
  readonly data?: unknown
}

// ---- batch

export interface PodFailureRule {
  readonly action: string
  readonly onExitCodes?: {
    readonly containerName?: string
    readonly operator: string
    readonly values: readonly number[]
  }
  readonly onPodConditions?: readonly { readonly type: string; readonly status?: string }[]
}

export interface JobSpec {
  readonly parallelism?: number
  readonly completions?: number
  readonly activeDeadlineSeconds?: Int64
  readonly podFailurePolicy?: { readonly rules: readonly PodFailureRule[] }
  readonly successPolicy?: {
    readonly rules: readonly { readonly succeededIndexes?: string; readonly succeededCount?: number }[]
  }
  readonly backoffLimit?: number
  readonly backoffLimitPerIndex?: number
  readonly maxFailedIndexes?: number
  readonly selector?: LabelSelectorObject
  readonly template: PodTemplate
  readonly ttlSecondsAfterFinished?: number
  readonly completionMode?: string
  readonly suspend?: boolean
  readonly podReplacementPolicy?: string
  readonly managedBy?: string
}

export interface JobStatus {
  readonly conditions?: readonly Condition[]
  readonly startTime?: string
  readonly completionTime?: string
  readonly active?: number
  readonly ready?: number
  readonly terminating?: number
  readonly succeeded?: number
  readonly failed?: number
  readonly completedIndexes?: string
  readonly failedIndexes?: string
  readonly uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] }
}

export interface Job extends WorkloadObject {
  readonly spec: JobSpec
  readonly status: JobStatus
}

export interface CronJob extends WorkloadObject {
  readonly spec: {
    readonly schedule: string
    readonly timeZone?: string
    readonly startingDeadlineSeconds?: Int64
    readonly concurrencyPolicy?: string
    readonly suspend?: boolean
    readonly jobTemplate: { readonly metadata?: ObjectMeta; readonly spec: JobSpec }
    readonly successfulJobsHistoryLimit?: number
    readonly failedJobsHistoryLimit?: number
  }
  readonly status: {
    readonly active?: readonly ObjectReference[]
    readonly lastScheduleTime?: string
    readonly lastSuccessfulTime?: string
  }
}

export interface ObjectReference {
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly apiVersion?: string
  readonly resourceVersion?: string
  readonly fieldPath?: string
}

// ---- services

export interface ServicePort {
  readonly name?: string
  readonly protocol?: string
  readonly port: number
  readonly targetPort?: IntOrString
  readonly appProtocol?: string
}

export interface Service extends WorkloadObject {
  readonly spec: {
    readonly selector?: Labels
    readonly ports?: readonly ServicePort[]
    readonly type?: string
    readonly clusterIP?: string
    readonly clusterIPs?: readonly string[]
    readonly ipFamilies?: readonly string[]
    readonly publishNotReadyAddresses?: boolean
  }
}

// ---- volumes

export interface ClaimSpec {
  readonly accessModes?: readonly string[]
  readonly storageClassName?: string
  readonly volumeName?: string
  readonly volumeMode?: string
  readonly selector?: LabelSelectorObject
  readonly resources?: { readonly requests?: Resources }
  readonly dataSource?: unknown
}

export interface Claim extends WorkloadObject {
  readonly spec: ClaimSpec
  readonly status?: {
    readonly phase?: string
    readonly accessModes?: readonly string[]
    readonly capacity?: Resources
    readonly conditions?: readonly Condition[]
  }
}

export interface Volume extends WorkloadObject {
  readonly spec: {
    readonly accessModes?: readonly string[]
    readonly capacity?: Resources
    readonly claimRef?: ObjectReference
    readonly storageClassName?: string
    readonly volumeMode?: string
    readonly persistentVolumeReclaimPolicy?: string
    readonly nodeAffinity?: { readonly required?: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] } }
  }
  readonly status?: { readonly phase?: string; readonly reason?: string; readonly message?: string }
}

export interface StorageClass extends WorkloadObject {
  readonly provisioner: string
  readonly reclaimPolicy?: string
  readonly volumeBindingMode?: string
  readonly mountOptions?: readonly string[]
}

// ---- policy and autoscaling

export interface DisruptionBudget extends WorkloadObject {
  readonly spec: {
    readonly minAvailable?: IntOrString
    readonly maxUnavailable?: IntOrString
    readonly selector?: LabelSelectorObject
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly disruptedPods?: Readonly<Record<string, string>>
    readonly disruptionsAllowed: number
    readonly currentHealthy: number
    readonly desiredHealthy: number
    readonly expectedPods: number
    readonly conditions?: readonly Condition[]
  }
}

export interface MetricTarget {
  readonly type: string
  readonly value?: string
  readonly averageValue?: string
  readonly averageUtilization?: number
}

export interface MetricIdentifier {
  readonly name: string
  readonly selector?: LabelSelectorObject
}

export interface MetricSpec {
  readonly type: string
  readonly resource?: { readonly name: string; readonly target: MetricTarget }
  readonly containerResource?: { readonly name: string; readonly container: string; readonly target: MetricTarget }
  readonly pods?: { readonly metric: MetricIdentifier; readonly target: MetricTarget }
  readonly object?: {
    readonly describedObject: { readonly kind: string; readonly name: string }
    readonly metric: MetricIdentifier
    readonly target: MetricTarget
  }
  readonly external?: { readonly metric: MetricIdentifier; readonly target: MetricTarget }
}

export interface ScalingRules {
  readonly stabilizationWindowSeconds?: number
  readonly selectPolicy?: string
  readonly policies?: readonly { readonly type: string; readonly value: number; readonly periodSeconds: number }[]
  readonly tolerance?: string
}

export interface Autoscaler extends WorkloadObject {
  readonly spec: {
    readonly scaleTargetRef: { readonly kind: string; readonly name: string; readonly apiVersion?: string }
    readonly minReplicas?: number
    readonly maxReplicas: number
    readonly metrics?: readonly MetricSpec[]
    readonly behavior?: { readonly scaleUp?: ScalingRules; readonly scaleDown?: ScalingRules }
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly lastScaleTime?: string
    readonly currentReplicas?: number
    readonly desiredReplicas: number
    readonly currentMetrics?: readonly unknown[] | null
    readonly conditions?: readonly Condition[]
  }
}
