// The priority levels and flow schemas that every cluster starts with.
export { flowControlObjects, isMandatoryFlowObject, mandatoryFlowObjects } from './flowcontrol/bootstrap-objects.js'
