// Descriptions of built-in types and fields in OpenAPI documents: those of the meta types, and those that are most useful
// in `kubectl explain`. Texts of meta types and of fields that all objects have begin like Kubernetes' own, because
// clients and tests look for them. A field without a text here has no description.
import { bareName } from '../../types/type.js'

export function describeType(type: string): string | undefined {
  const name = bareName(type)
  const given = TYPES[name]
  if (given !== undefined) return given
  return name.endsWith('List') && name !== 'List' ? `${name} is a list of ${itemOf(name)} objects.` : undefined
}

export function describeField(type: string, field: string): string | undefined {
  const name = bareName(type)
  return (
    FIELDS[name]?.[field] ?? (name.endsWith('List') ? describeListField(name, field) : undefined) ?? ANYWHERE[field]
  )
}

/** The items of a list: `List of services`. */
export const describeItems = (plural: string): string => `List of ${plural}`

const itemOf = (listKind: string): string => listKind.slice(0, -'List'.length)

function describeListField(listKind: string, field: string): string | undefined {
  if (field === 'metadata') return DESCRIPTIONS.listMetadata
  return field === 'items' ? describeItems(pluralOf(itemOf(listKind).toLowerCase())) : undefined
}

function pluralOf(word: string): string {
  if (/(s|x|ch)$/.test(word)) return word === 'endpoints' ? word : `${word}es`
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`
}

const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md'

export const DESCRIPTIONS = {
  apiVersion:
    'APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized ' +
    'schemas to the latest internal value, and may reject unrecognized values. ' +
    `More info: ${CONVENTIONS}#resources`,
  kind:
    'Kind is a string value representing the REST resource this object represents. Servers may infer this from the ' +
    `endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${CONVENTIONS}#types-kinds`,
  metadata: `Standard object's metadata. More info: ${CONVENTIONS}#metadata`,
  listMetadata: `Standard list metadata. More info: ${CONVENTIONS}#types-kinds`,
} as const

const ANYWHERE: Readonly<Record<string, string>> = {
  apiVersion: DESCRIPTIONS.apiVersion,
  kind: DESCRIPTIONS.kind,
  metadata: DESCRIPTIONS.metadata,
  spec: 'Desired state of the object.',
  status: 'Most recently observed state of the object. Written by controllers. Read-only for other clients.',
  conditions: 'Latest available observations of the state of the object, one entry for each type of condition.',
  observedGeneration: 'The metadata.generation for which the status was written.',
}

const TYPES: Readonly<Record<string, string>> = {
  ObjectMeta:
    'ObjectMeta is metadata that all persisted resources must have, which includes all objects users must create.',
  ListMeta: 'ListMeta describes metadata that lists and other synthetic resources have.',
  OwnerReference:
    'OwnerReference contains enough information to identify an owning object. The owner must be in the same namespace ' +
    'as the dependent, or be cluster-scoped.',
  ManagedFieldsEntry: 'ManagedFieldsEntry is a manager, the operation it used, and the fields that it has set.',
  FieldsV1:
    "FieldsV1 stores a set of fields as a tree in JSON. Keys are 'f:<name>' for a field of an object, 'k:<keys>' for an " +
    "item of a map list, 'v:<value>' for an item of a set, and '.' for the item itself.",
  DeleteOptions: 'DeleteOptions may be provided when deleting an API object.',
  Preconditions: 'Preconditions must be fulfilled before an operation (update, delete, etc.) is carried out.',
  Patch: 'Patch is a change to an object, in the format of the content type.',
  Status: "Status is a return value for calls that don't return other objects.",
  StatusDetails: 'StatusDetails is a set of additional properties of a failure, such as its causes.',
  StatusCause: 'StatusCause is one cause of a failure: the field, the reason and a message.',
  Time: 'Time is a point in time in RFC 3339, in seconds.',
  MicroTime: 'MicroTime is a point in time in RFC 3339, in microseconds.',
  WatchEvent: 'Event represents a single event to a watched resource.',
  Quantity: 'Quantity is a number with a suffix: 100m, 1.5, 2Gi, 3e6.',
  IntOrString: 'IntOrString is an integer or a string, such as 80, 25% or the name of a port.',
  RawExtension: 'RawExtension is an object of any kind.',
  LabelSelector:
    'A label selector is a label query over a set of resources. The results of matchLabels and matchExpressions are ' +
    'ANDed. An empty label selector matches all objects. A null label selector matches no objects.',
  LabelSelectorRequirement: 'A label selector requirement has a key, an operator, and values for the operator.',
  Condition: 'Condition contains details for one aspect of the current state of this API Resource.',
  Scale: 'Scale represents a scaling request for a resource.',
  Info: 'Info contains version information of the server.',
  Namespace: 'Namespace is a scope for names. Deleting it deletes all objects in it.',
  ConfigMap: 'ConfigMap holds configuration data for programs, as strings or bytes by key.',
  Secret: 'Secret holds confidential data, as bytes by key.',
  ServiceAccount: 'ServiceAccount is an identity for programs.',
  Service: 'Service is a stable name and address for a set of pods.',
  Endpoints: 'Endpoints holds the addresses of a service. Deprecated: use EndpointSlice.',
  EndpointSlice: 'EndpointSlice holds a subset of the addresses of a service.',
  Event: 'Event is a report of something that happened in the cluster. Events have a limited retention time.',
  Lease: 'Lease records the holder of a lock and its duration, for example for leader election.',
  Pod: 'Pod is a set of containers that run together on one node.',
  PodSpec: 'PodSpec describes the containers of a pod, and where and how they run.',
  PodTemplateSpec: 'PodTemplateSpec describes the pods that are created from it.',
  Container: 'Container is a program in an image, with the settings to run it.',
  Node: 'Node is a machine that runs pods.',
  Deployment: 'Deployment runs a number of identical pods, and replaces them gradually when their template changes.',
  ReplicaSet: 'ReplicaSet runs a number of identical pods.',
  StatefulSet: 'StatefulSet runs a number of pods, each with a stable name and its own volumes.',
  DaemonSet: 'DaemonSet runs one pod on each selected node.',
  Job: 'Job runs pods until a number of them have succeeded.',
  CronJob: 'CronJob creates jobs on a schedule.',
  Ingress: 'Ingress routes external HTTP traffic to services, by host and path.',
  NetworkPolicy: 'NetworkPolicy describes the allowed network traffic from and to pods.',
  PersistentVolume: 'PersistentVolume is a piece of storage in the cluster.',
  PersistentVolumeClaim: 'PersistentVolumeClaim is a request for a persistent volume, and its binding to one.',
  StorageClass: 'StorageClass describes a class of storage that claims can request.',
  Role: 'Role is a set of permissions in its namespace.',
  ClusterRole: 'ClusterRole is a set of permissions in the whole cluster or in any namespace.',
  RoleBinding: 'RoleBinding grants a role to subjects in its namespace.',
  ClusterRoleBinding: 'ClusterRoleBinding grants a cluster role to subjects in the whole cluster.',
  HorizontalPodAutoscaler: 'HorizontalPodAutoscaler scales an object by the metrics of its pods.',
  PodDisruptionBudget: 'PodDisruptionBudget limits how many pods of a set may be evicted at the same time.',
  PriorityClass: 'PriorityClass maps a name to the priority of pods.',
  ResourceQuota: 'ResourceQuota limits the total resource usage of a namespace.',
  LimitRange: 'LimitRange limits the resource usage of single objects in a namespace.',
  CustomResourceDefinition: 'CustomResourceDefinition adds a custom resource to the API.',
  APIService: 'APIService is a group version of the API and the server that provides it.',
  ValidatingWebhookConfiguration: 'ValidatingWebhookConfiguration lists webhooks that may reject requests.',
  MutatingWebhookConfiguration: 'MutatingWebhookConfiguration lists webhooks that may change or reject requests.',
  ValidatingAdmissionPolicy: 'ValidatingAdmissionPolicy has CEL expressions that may reject requests.',
  ValidatingAdmissionPolicyBinding: 'ValidatingAdmissionPolicyBinding sets the scope and the parameters of a policy.',
}

const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ObjectMeta: {
    name:
      'Name must be unique within a namespace. Is required when creating resources, unless generateName is set. ' +
      'Cannot be updated.',
    generateName:
      'GenerateName is an optional prefix, used by the server to generate a unique name ONLY IF the Name field has not ' +
      'been provided.',
    namespace:
      'Namespace defines the space within which each name must be unique. Objects of cluster-scoped resources have none. ' +
      'Cannot be updated.',
    selfLink: 'Deprecated: selfLink is a legacy read-only field that is no longer populated by the system.',
    uid: 'UID is the unique in time and space value for this object. Populated by the system. Read-only.',
    resourceVersion:
      'An opaque value that represents the internal version of this object, for optimistic concurrency, change ' +
      'detection, and watches. Populated by the system. Read-only.',
    generation: 'A sequence number representing a specific generation of the desired state. Populated by the system.',
    creationTimestamp:
      'CreationTimestamp is a timestamp representing the server time when this object was created. It is represented in ' +
      'RFC3339 form and is in UTC. Populated by the system. Read-only. Null for lists.',
    deletionTimestamp:
      'DeletionTimestamp is RFC 3339 date and time at which this resource will be deleted. It is set by the server when ' +
      'a graceful deletion is requested. The object is removed when its finalizers list is empty. Read-only.',
    deletionGracePeriodSeconds:
      'Number of seconds allowed for this object to gracefully terminate before it will be removed. Set only when ' +
      'deletionTimestamp is also set. Read-only.',
    labels: 'Map of string keys and values that can be used to organize and categorize (scope and select) objects.',
    annotations:
      'Annotations is an unstructured key value map stored with a resource that may be set by external tools to store ' +
      'and retrieve arbitrary metadata. They are not queryable.',
    ownerReferences:
      'List of objects depended by this object. If ALL objects in the list have been deleted, this object will be ' +
      'garbage collected. At most one entry is the managing controller.',
    finalizers:
      'Must be empty before the object is deleted from the registry. Each entry identifies the responsible component, ' +
      'which removes it. Entries can only be removed while deletionTimestamp is set.',
    managedFields: 'ManagedFields maps a manager and version to the set of fields that are managed by it.',
  },
  ListMeta: {
    resourceVersion:
      "String that identifies the server's internal version of this list. A watch can start from it. Populated by the " +
      'system. Read-only.',
    continue:
      'continue may be set if the user set a limit on the number of items returned, and indicates that the server has ' +
      'more data available. The value is opaque and is sent with the next request.',
    remainingItemCount:
      'remainingItemCount is the number of subsequent items in the list which are not included in this list response, ' +
      'if it is known.',
    selfLink: 'Deprecated: selfLink is a legacy read-only field that is no longer populated by the system.',
  },
  OwnerReference: {
    apiVersion: 'API version of the referent.',
    kind: 'Kind of the referent.',
    name: 'Name of the referent.',
    uid: 'UID of the referent.',
    controller: 'If true, this reference points to the managing controller.',
    blockOwnerDeletion:
      'If true, AND if the owner has the "foregroundDeletion" finalizer, then the owner cannot be removed until this ' +
      'reference is removed. Defaults to false.',
  },
  LabelSelector: {
    matchLabels: 'matchLabels is a map of {key,value} pairs. Each pair must match. The requirements are ANDed.',
    matchExpressions: 'matchExpressions is a list of label selector requirements. The requirements are ANDed.',
  },
  DeleteOptions: {
    gracePeriodSeconds: 'The duration in seconds before the object should be deleted. Zero means delete immediately.',
    preconditions:
      'Must be fulfilled before a deletion is carried out. If not possible, a 409 Conflict status will be returned.',
    propagationPolicy: 'Whether and how garbage collection will be performed: Orphan, Background or Foreground.',
    orphanDependents: 'Deprecated: use propagationPolicy.',
    dryRun: 'When present, modifications are not persisted. The only valid value is All.',
  },
  ConfigMap: {
    data: 'Strings by key.',
    binaryData: 'Bytes by key, in base64. A key must not be in data as well.',
    immutable: 'If true, the data cannot be updated.',
  },
  Secret: {
    data: 'Bytes by key, in base64.',
    stringData: 'Write-only strings by key. They are merged into data on write and are never returned.',
    type: 'The purpose of the data, such as Opaque or kubernetes.io/tls.',
    immutable: 'If true, the data cannot be updated.',
  },
  PodSpec: {
    containers: 'The containers of the pod. There must be at least one.',
    initContainers: 'Containers that run to completion one after the other before the containers start.',
    volumes: 'Volumes that containers can mount.',
    restartPolicy: 'When containers are restarted after they exit.',
    serviceAccountName: 'The service account that the pod uses to access the API.',
    nodeName: 'The node to which the pod is assigned.',
    nodeSelector: 'Labels that a node must have to run the pod.',
    tolerations: 'Node taints that the pod tolerates.',
    affinity: 'Scheduling constraints and preferences.',
    terminationGracePeriodSeconds: 'The time in seconds that containers have to terminate before they are killed.',
  },
  Container: {
    name: 'The name of the container, unique within the pod.',
    image: 'The container image.',
    command: 'The command to run instead of the entrypoint of the image.',
    args: 'The arguments to use instead of the command of the image.',
    env: 'Environment variables.',
    envFrom: 'ConfigMaps and Secrets whose entries are set as environment variables.',
    ports: 'Ports on which the container listens.',
    resources: 'Requested resources and resource limits.',
    volumeMounts: 'Mount points of the volumes of the pod.',
    livenessProbe: 'Periodic check of the container. The container is restarted if it fails.',
    readinessProbe: 'Periodic check of readiness. The pod receives no service traffic while it fails.',
    startupProbe: 'Check for the completion of start-up. The other probes begin after it has succeeded.',
    imagePullPolicy: 'When the image is pulled.',
    workingDir: 'The working directory of the program.',
    securityContext: 'Security settings of the container.',
  },
  DeploymentSpec: {
    replicas: 'The desired number of pods. Defaults to 1.',
    selector: 'Label selector for the pods of the deployment. Cannot be updated.',
    template: 'Template of the pods.',
    strategy: 'How existing pods are replaced with new ones.',
    paused: 'If true, changes of the template are not rolled out.',
    revisionHistoryLimit: 'The number of old ReplicaSets to keep for rollbacks.',
  },
  ServiceSpec: {
    selector: 'Labels of the pods that receive the traffic of the service.',
    ports: 'The ports of the service and their target ports.',
    type: 'How the service is exposed: ClusterIP, NodePort, LoadBalancer, or ExternalName.',
    clusterIP: 'The address of the service; None for a headless service. Cannot be updated.',
  },
}
