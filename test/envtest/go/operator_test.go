// An operator and its test as kubebuilder lays them out, on plain envtest. The two variables that TestMain sets are all that
// is Binnacle's: a Deployment becomes available, and a namespace goes away with everything in it.
package envtest_test

import (
	"context"
	"log"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var testEnv *envtest.Environment
var k8sClient client.Client

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.UseDevMode(true)))
	os.Setenv("BINNACLE_CONTROLLERS", "*")
	os.Setenv("BINNACLE_SIMULATE_WORKLOADS", "true")
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		os.Setenv("KUBEBUILDER_ASSETS", installAssets())
	}
	testEnv = &envtest.Environment{CRDDirectoryPaths: []string{"crds"}, ErrorIfCRDPathMissing: true}
	config, err := testEnv.Start()
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		log.Fatal(err)
	}
	k8sClient = manager.GetClient()
	err = ctrl.NewControllerManagedBy(manager).For(newWidget()).Owns(&appsv1.Deployment{}).Complete(&WidgetReconciler{k8sClient})
	if err != nil {
		log.Fatal(err)
	}
	go manager.Start(ctx)
	code := m.Run()
	cancel()
	if err := testEnv.Stop(); err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

// installAssets does what KUBEBUILDER_ASSETS=$(npx binnacle envtest install) does. BINNACLE has the words of a command.
func installAssets() string {
	words := append(strings.Fields(os.Getenv("BINNACLE")), "envtest", "install")
	if len(words) == 2 {
		words = append([]string{"binnacle"}, words...)
	}
	out, err := exec.Command(words[0], words[1:]...).Output()
	if err != nil {
		log.Fatalf("%v: %v", words, err)
	}
	return strings.TrimSpace(string(out))
}

// WidgetReconciler gives every Widget a Deployment, and writes its ready replicas into the status.
type WidgetReconciler struct{ client.Client }

func (r *WidgetReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := newWidget()
	if err := r.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	size, _, _ := unstructured.NestedInt64(widget.Object, "spec", "size")
	replicas, labels := int32(size), map[string]string{"widget": request.Name}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: request.Name, Namespace: request.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		deployment.Spec.Replicas = &replicas
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		if len(deployment.Spec.Template.Spec.Containers) == 0 {
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "widget", Image: "widget:1"}}
		}
		return controllerutil.SetControllerReference(widget, deployment, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := unstructured.SetNestedField(widget.Object, int64(deployment.Status.ReadyReplicas), "status", "ready"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Update(ctx, widget)
}

func TestWidget(t *testing.T) {
	ctx := t.Context()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}
	widget := newWidget()
	widget.SetNamespace("team")
	widget.SetName("web")
	unstructured.SetNestedField(widget.Object, int64(3), "spec", "size")
	for _, object := range []client.Object{namespace, widget} {
		if err := k8sClient.Create(ctx, object); err != nil {
			t.Fatal(err)
		}
	}

	t.Run("its Deployment becomes available, and the status says so", func(t *testing.T) {
		deployment := &appsv1.Deployment{}
		eventually(t, func() bool {
			err := k8sClient.Get(ctx, client.ObjectKeyFromObject(widget), deployment)
			return err == nil && deployment.Status.AvailableReplicas == 3
		})
		eventually(t, func() bool {
			k8sClient.Get(ctx, client.ObjectKeyFromObject(widget), widget)
			ready, _, _ := unstructured.NestedInt64(widget.Object, "status", "ready")
			return ready == 3
		})
	})

	t.Run("the Deployment goes with the widget", func(t *testing.T) {
		if err := k8sClient.Delete(ctx, widget); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool {
			err := k8sClient.Get(ctx, client.ObjectKeyFromObject(widget), &appsv1.Deployment{})
			return apierrors.IsNotFound(err)
		})
	})

	t.Run("the namespace goes away", func(t *testing.T) {
		if err := k8sClient.Delete(ctx, namespace); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool {
			return apierrors.IsNotFound(k8sClient.Get(ctx, client.ObjectKeyFromObject(namespace), namespace))
		})
	})
}

func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	check := func(context.Context) (bool, error) { return holds(), nil }
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, check); err != nil {
		t.Fatal("it did not happen within a minute")
	}
}

func newWidget() *unstructured.Unstructured {
	widget := &unstructured.Unstructured{}
	widget.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"})
	return widget
}
