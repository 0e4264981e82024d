// What documents say in words about built-in types: the fields that every object has, and those that people ask
// `kubectl explain` for most. Texts are our own; a field without one is published without a description.
import { bareName } from '../../types/type.js'

export function describeType(type: string): string | undefined {
  const name = bareName(type)
  const given = TYPES[name]
  if (given !== undefined) return given
  return name.endsWith('List') && name !== 'List' ? `A list of ${name.slice(0, -'List'.length)} objects.` : undefined
}

export const describeField = (type: string, field: string): string | undefined =>
  FIELDS[bareName(type)]?.[field] ?? (type.endsWith('List') ? LIST_FIELDS[field] : undefined) ?? ANYWHERE[field]

export const DESCRIPTIONS = {
  apiVersion: 'The group and version of the API that the object is written in, such as apps/v1.',
  kind: 'What the object is, in CamelCase. The server knows it from the URL; it cannot be changed.',
  metadata: 'What every object has: its name, labels, annotations, owners and history.',
  listMetadata: 'The resource version at which the list was taken, and how to get the rest of it.',
  items: 'The objects of the list.',
} as const

const ANYWHERE: Readonly<Record<string, string>> = {
  apiVersion: DESCRIPTIONS.apiVersion,
  kind: DESCRIPTIONS.kind,
  metadata: DESCRIPTIONS.metadata,
  spec: 'What is wanted.',
  status: 'What was observed last. Written by controllers, through the status subresource where there is one.',
  conditions: 'What was found out about the object, one entry a question.',
  observedGeneration: 'The metadata.generation that the status was written for.',
}

const LIST_FIELDS: Readonly<Record<string, string>> = {
  items: DESCRIPTIONS.items,
  metadata: DESCRIPTIONS.listMetadata,
}

const TYPES: Readonly<Record<string, string>> = {
  ObjectMeta: 'What every object has, whatever its kind: its name, labels, annotations, owners and history.',
  ListMeta: 'What every list has, whatever it is a list of.',
  OwnerReference: 'An object that this one belongs to, and goes with. It is in the same namespace or in none.',
  ManagedFieldsEntry: 'The fields that one manager has set, and how.',
  FieldsV1: 'A set of fields as a tree: f: before the name of a field, k: before the keys of a list entry.',
  DeleteOptions: 'How an object is to be deleted.',
  Preconditions: 'What must be true of an object for a request to be carried out.',
  Patch: 'A change to an object, in the form that the content type names.',
  Status: 'How a request ended that has no other answer.',
  StatusDetails: 'What a status is about, and the faults that it stands for.',
  StatusCause: 'One fault: where it is, and what is wrong.',
  Time: 'A moment, in RFC 3339 with whole seconds.',
  MicroTime: 'A moment, in RFC 3339 with microseconds.',
  WatchEvent: 'A change to an object that is being watched.',
  Quantity: 'An amount, as a number with a suffix: 100m, 1.5, 2Gi, 3e6.',
  IntOrString: 'A whole number or a text, such as 80, 25% or the name of a port.',
  RawExtension: 'An object of any kind.',
  LabelSelector: 'Picks objects by their labels; all that is said must be true. An empty one picks everything.',
  LabelSelectorRequirement: 'What must be true of one label.',
  Condition: 'The answer to one question about an object, and since when it is the answer.',
  Scale: 'How many replicas an object is to have, and has.',
  Info: 'The version of the server.',
  Namespace: 'A scope for names. Deleting it deletes everything in it.',
  ConfigMap: 'Settings for programs to read, as texts or bytes by key.',
  Secret: 'Data that not everybody may read, as bytes by key.',
  ServiceAccount: 'An identity for programs.',
  Service: 'A stable name and address for a set of pods that does the same work.',
  Endpoints: 'The addresses behind a service. EndpointSlices have taken its place.',
  EndpointSlice: 'A part of the addresses behind a service.',
  Event: 'Something that happened, told for people to read. Events are forgotten after a while.',
  Lease: 'Who holds something, and for how long, as in the election of a leader.',
  Pod: 'Containers that run together on one node.',
  PodSpec: 'What a pod is to run, where and how.',
  PodTemplateSpec: 'What the pods that are made from it will look like.',
  Container: 'A program in its image, and how to run it.',
  Node: 'A machine that runs pods.',
  Deployment: 'Keeps a number of equal pods, and replaces them bit by bit when their template changes.',
  ReplicaSet: 'Keeps a number of equal pods.',
  StatefulSet: 'Keeps a number of pods with names and volumes of their own.',
  DaemonSet: 'Keeps one pod on each node.',
  Job: 'Runs pods until enough of them have succeeded.',
  CronJob: 'Makes jobs by the clock.',
  Ingress: 'Routes from outside to services, by host and path.',
  NetworkPolicy: 'Which traffic may reach pods, and leave them.',
  PersistentVolume: 'A piece of storage.',
  PersistentVolumeClaim: 'Asks for storage, and holds it.',
  StorageClass: 'A kind of storage that can be asked for.',
  Role: 'What may be done in its namespace.',
  ClusterRole: 'What may be done anywhere.',
  RoleBinding: 'Grants a role in its namespace.',
  ClusterRoleBinding: 'Grants a cluster role everywhere.',
  HorizontalPodAutoscaler: 'Scales an object by what is measured of its pods.',
  PodDisruptionBudget: 'How many pods of a set may be taken down at once.',
  PriorityClass: 'How important pods are to each other.',
  ResourceQuota: 'How much a namespace may use.',
  LimitRange: 'How much each object in a namespace may use.',
  CustomResourceDefinition: 'Adds a kind to the API.',
  APIService: 'A group version of the API, and who serves it.',
  ValidatingWebhookConfiguration: 'Webhooks that may refuse requests.',
  MutatingWebhookConfiguration: 'Webhooks that may change objects on their way in.',
  ValidatingAdmissionPolicy: 'CEL expressions that may refuse requests.',
  ValidatingAdmissionPolicyBinding: 'Where a policy holds, and with which parameters.',
}

const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ObjectMeta: {
    name: 'Names the object among those of its kind, in its namespace if it has one. It cannot be changed.',
    generateName: 'The beginning of a name that the server completes, for objects without a name.',
    namespace: 'The namespace that the object is in. It cannot be changed.',
    selfLink: 'No longer set by the server.',
    uid: 'Tells the object from all others that were, are or will be. Set by the server.',
    resourceVersion: 'Changes whenever the object does. Send it along to change only what you have seen.',
    generation: 'Counts how often what is wanted has changed. Set by the server.',
    creationTimestamp: 'When the object was made. Set by the server.',
    deletionTimestamp: 'When the object was asked to go; it goes when its finalizers are gone.',
    deletionGracePeriodSeconds: 'How long the object is given to end its work before it goes.',
    labels: 'Short texts by key, to find and group objects by.',
    annotations: 'Texts by key, for programs to keep things in. Nothing is found by them.',
    ownerReferences: 'The objects that this one belongs to. It is collected when all of them are gone.',
    finalizers: 'What must still be done before the object goes; whoever has done it takes its entry away.',
    managedFields: 'Which manager has set which fields. Kept by the server.',
  },
  ListMeta: {
    resourceVersion: 'The version of the store that the list shows. A watch can go on from there.',
    continue: 'If set, there is more: send it along as the continue parameter.',
    remainingItemCount: 'How many objects are still to come, if that is known.',
    selfLink: 'No longer set by the server.',
  },
  OwnerReference: {
    name: 'The name of the owner.',
    uid: 'The uid of the owner.',
    controller: 'Whether the owner is the controller that looks after this object.',
    blockOwnerDeletion: 'Whether the owner cannot go before this object when it is deleted in the foreground.',
  },
  LabelSelector: {
    matchLabels: 'Labels that must be there with these values.',
    matchExpressions: 'Further requirements, all of which must be met.',
  },
  DeleteOptions: {
    gracePeriodSeconds: 'How long the object is given to end its work; 0 deletes it at once.',
    preconditions: 'What must be true of the object for it to be deleted.',
    propagationPolicy: 'What becomes of objects that belong to this one: Orphan, Background or Foreground.',
    dryRun: 'All: do everything but store the result.',
  },
  ConfigMap: {
    data: 'Texts by key.',
    binaryData: 'Bytes by key, in base64. A key is either here or in data.',
    immutable: 'Whether the data can no longer be changed.',
  },
  Secret: {
    data: 'Bytes by key, in base64.',
    stringData: 'Texts by key, to write without encoding them. They are moved to data and never read back.',
    type: 'What the data is for, such as Opaque or kubernetes.io/tls.',
    immutable: 'Whether the data can no longer be changed.',
  },
  PodSpec: {
    containers: 'The containers that run side by side. There is at least one.',
    initContainers: 'Containers that run one after the other before the others start.',
    volumes: 'Storage that containers can mount.',
    restartPolicy: 'When containers are started again after they end.',
    serviceAccountName: 'Who the pod is when it talks to the API.',
    nodeName: 'The node that the pod is on.',
    nodeSelector: 'Labels that a node must have for the pod to run there.',
    tolerations: 'Taints of nodes that the pod puts up with.',
    affinity: 'Where the pod would rather be, and not be.',
    terminationGracePeriodSeconds: 'How long containers may take to end before they are ended.',
  },
  Container: {
    name: 'Names the container in its pod.',
    image: 'The image to run.',
    command: 'What to run instead of the entrypoint of the image.',
    args: 'What to hand to it instead of the command of the image.',
    env: 'Environment variables.',
    envFrom: 'Config maps and secrets whose entries become environment variables.',
    ports: 'Ports that the container listens on.',
    resources: 'What the container needs, and what it may use at most.',
    volumeMounts: 'Where the volumes of the pod appear in the container.',
    livenessProbe: 'Tells when the container must be started anew.',
    readinessProbe: 'Tells when the container can take requests.',
    startupProbe: 'Tells when the container has started; the other probes wait for it.',
    imagePullPolicy: 'When the image is fetched.',
    workingDir: 'The folder that the program starts in.',
    securityContext: 'What the container may do on its node.',
  },
  DeploymentSpec: {
    replicas: 'How many pods there are to be.',
    selector: 'Which pods are its own. It cannot be changed.',
    template: 'What its pods look like.',
    strategy: 'How old pods give way to new ones.',
    paused: 'Whether changes of the template have to wait.',
    revisionHistoryLimit: 'How many old replica sets are kept to go back to.',
  },
  ServiceSpec: {
    selector: 'Labels of the pods behind the service.',
    ports: 'The ports of the service, and where they lead.',
    type: 'Who can reach the service: ClusterIP, NodePort, LoadBalancer, or ExternalName.',
    clusterIP: 'The address of the service; None for a headless one. It cannot be changed.',
  },
}
