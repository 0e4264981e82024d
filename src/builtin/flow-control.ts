// The priority levels and flow schemas that every cluster starts with.
export { flowControlObjects } from './flowcontrol/bootstrap-objects.js'
