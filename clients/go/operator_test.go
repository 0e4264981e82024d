package binnacletest_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"binnacletest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
)

// runOperator runs a small operator: it writes the length of the key "text" of each ConfigMap into its key "length".
func runOperator(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	write := func(object any) {
		seen := object.(*corev1.ConfigMap)
		text, isThere := seen.Data["text"]
		length := strconv.Itoa(len(text))
		if !isThere || seen.Data["length"] == length {
			return
		}
		maps := client.CoreV1().ConfigMaps(seen.Namespace)
		_ = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			current, err := maps.Get(ctx, seen.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			current.Data["length"] = length
			_, err = maps.Update(ctx, current, metav1.UpdateOptions{})
			return err
		})
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	_, err = factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    write,
		UpdateFunc: func(_, object any) { write(object) },
	})
	factory.Start(ctx.Done())
	return err
}

func TestOperatorRetriesConflicts(t *testing.T) {
	server := binnacletest.Start(t)
	server.InjectFault(binnacletest.Fault{Verb: []string{"update"}, Resource: []string{"configmaps"}, Status: 409, Times: 2})
	if err := runOperator(t.Context(), server.Config); err != nil {
		t.Fatal(err)
	}

	client, err := kubernetes.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	maps := client.CoreV1().ConfigMaps("default")
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"text": "four"}}
	if _, err := maps.Create(t.Context(), settings, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	hasLength := func(ctx context.Context) (bool, error) {
		found, err := maps.Get(ctx, "settings", metav1.GetOptions{})
		return err == nil && found.Data["length"] == "4", err
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 20*time.Second, true, hasLength); err != nil {
		t.Fatal(err)
	}
	if met := server.FaultReport(); len(met) != 2 || met[0].Fault["status"] != 409.0 {
		t.Fatalf("injected: %v, want two conflicts", met)
	}
}
